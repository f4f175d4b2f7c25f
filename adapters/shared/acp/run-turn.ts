import { type ClientContext, methods, type PromptResponse } from "@agentclientprotocol/sdk";
import { nullIfAborted } from "@hak2i/async-kit";
import { z } from "zod";
import type { TaskErrorCode } from "#contract";
import type { ProgramTask } from "../agent-program/agent-program.ts";
import { promptOf } from "../agent-program/prompt.ts";
import type { Outcome } from "../agent-program/run-program.ts";
import { AcpFailure, AgentExited, explainError, explainWords } from "./acp-failure.ts";
import type { AcpProfile } from "./acp-profile.ts";
import { openSession } from "./open-session.ts";
import type { SessionRecorder } from "./session-recorder.ts";

/** How long an agent may take to stop its turn when asked to. */
const CANCEL_LIMIT_MS = 1_500;

const responseSchema = z.looseObject({ stopReason: z.string() });

/** What a conversation with an agent has come to. */
export interface Turn {
  /** Null: its process ended in the middle, or the task was cancelled; both are told otherwise. */
  verdict: Outcome | null;
  /** Only of a turn whose end the agent has told: such a session can be gone on with. */
  session?: { id: string; response: PromptResponse };
}

/** Talks an agent through one task. `onPrompt` hears the id of the session when its timeline begins. */
export async function takeTurn(
  task: Pick<ProgramTask, "request" | "context" | "timeline" | "signal" | "offeredTools">,
  profile: AcpProfile,
  agent: ClientContext,
  heard: Pick<SessionRecorder, "failure" | "rejection">,
  onPrompt: (sessionId: string) => void,
): Promise<Turn> {
  const { request, timeline, signal } = task;
  let phase: "start" | "prompt" = "start";
  try {
    const sessionId = await nullIfAborted(openSession(agent, profile, task), signal);
    if (sessionId === null) return { verdict: null };
    onPrompt(sessionId);
    phase = "prompt";
    const text = profile.prompt?.(request) ?? promptOf(request);
    const prompted = agent.request(methods.agent.session.prompt, { sessionId, prompt: [{ type: "text", text }] });
    signal.addEventListener("abort", () => void agent.notify(methods.agent.session.cancel, { sessionId }).catch(() => {}), { once: true });
    const answer = await nullIfAborted(prompted, signal, CANCEL_LIMIT_MS);
    if (answer === null) return { verdict: null };
    const response = responseSchema.safeParse(answer);
    if (!response.success) throw new AcpFailure("adapter_error", "The agent ended its turn without a stop reason.");
    return {
      verdict: signal.aborted ? null : (profile.explainEnd?.(answer) ?? verdictOf(response.data.stopReason, timeline.answer, heard)),
      session: { id: sessionId, response: answer },
    };
  } catch (error) {
    if (error instanceof AgentExited || signal.aborted) return { verdict: null };
    return { verdict: explainError(error, phase, profile) };
  }
}

/** How the task went, by the reason the agent gives for stopping. An answer that was cut short is no answer. */
function verdictOf(reason: string, answer: string, { failure, rejection }: Pick<SessionRecorder, "failure" | "rejection">): Outcome {
  if (failure !== undefined) return explainWords(failure, "prompt");
  if (reason === "end_turn") return { status: "ok" };
  const [errorCode, error] = failures[reason] ?? ["adapter_error", `The agent stopped for a reason that Bridge does not know: ${reason}.`];
  // Some agents give up the whole task when one call is rejected.
  const more = reason === "refusal" ? answer : reason === "cancelled" ? (rejection ?? "") : "";
  return { status: "error", errorCode, error: `${error} ${more}`.trim() };
}

const failures: Readonly<Record<string, readonly [TaskErrorCode, string]>> = {
  max_tokens: ["model_error", "The model reached its token limit: its answer is cut short."],
  max_turn_requests: ["max_turns", "The agent reached its limit of model calls in one task."],
  refusal: ["model_error", "The model refused the task."],
  cancelled: ["adapter_error", "The agent cancelled the task by itself."],
};
