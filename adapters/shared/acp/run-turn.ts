import { type ClientContext, methods, type PromptResponse } from "@agentclientprotocol/sdk";
import { nullIfAborted } from "@hak2i/async-kit";
import { z } from "zod";
import type { TaskErrorCode } from "#contract";
import type { ProgramTask } from "../agent-program/agent-program.ts";
import { formatPrompt } from "../agent-program/prompt.ts";
import type { Outcome } from "../agent-program/run-program.ts";
import { failure } from "../process/failure.ts";
import { AcpFailure, AgentExited, explainError, explainMessage } from "./acp-failure.ts";
import type { AcpProfile } from "./acp-profile.ts";
import { openSession } from "./open-session.ts";
import type { SessionRecorder } from "./session-recorder.ts";

/** How long an agent may take to end a canceled turn. */
const CANCEL_LIMIT_MS = 1_500;

const responseSchema = z.looseObject({ stopReason: z.string() });

/** The end of a turn. */
export interface Turn {
  /** Null if the process exited during the turn or the task was canceled. The caller detects both cases itself. */
  outcome: Outcome | null;
  /** Set if the agent reported the end of the turn. Such a session can be resumed. */
  session?: { id: string; response: PromptResponse };
}

/** Opens the session of a task and runs one turn. Calls `onPrompt` with the session id right before the prompt. */
export async function runTurn(
  task: Pick<ProgramTask, "request" | "context" | "timeline" | "signal" | "offeredTools">,
  profile: AcpProfile,
  agent: ClientContext,
  recorder: Pick<SessionRecorder, "failure" | "rejection">,
  onPrompt: (sessionId: string) => void,
): Promise<Turn> {
  const { request, timeline, signal } = task;
  let phase: "start" | "prompt" = "start";
  try {
    const sessionId = await nullIfAborted(openSession(agent, profile, task), signal);
    if (sessionId === null) return { outcome: null };
    onPrompt(sessionId);
    phase = "prompt";
    const text = profile.prompt?.(request) ?? formatPrompt(request);
    const promptAnswer = agent.request(methods.agent.session.prompt, { sessionId, prompt: [{ type: "text", text }] });
    signal.addEventListener("abort", () => void agent.notify(methods.agent.session.cancel, { sessionId }).catch(() => {}), { once: true });
    const answer = await nullIfAborted(promptAnswer, signal, CANCEL_LIMIT_MS);
    if (answer === null) return { outcome: null };
    const response = responseSchema.safeParse(answer);
    if (!response.success) throw new AcpFailure("adapter_error", "The agent ended its turn without a stop reason.");
    return {
      outcome: signal.aborted ? null : (profile.explainEnd?.(answer) ?? outcomeOf(response.data.stopReason, timeline.answer, recorder)),
      session: { id: sessionId, response: answer },
    };
  } catch (error) {
    if (error instanceof AgentExited || signal.aborted) return { outcome: null };
    return { outcome: explainError(error, phase, profile) };
  }
}

/** Returns the outcome for a stop reason. A truncated answer is a failure. */
function outcomeOf(
  reason: string,
  answer: string,
  { failure: reported, rejection }: Pick<SessionRecorder, "failure" | "rejection">,
): Outcome {
  if (reported !== undefined) return explainMessage(reported, "prompt");
  if (reason === "end_turn") return { status: "ok" };
  const [errorCode, error] = STOP_FAILURES[reason] ?? ["adapter_error", `The agent reported the unknown stop reason "${reason}".`];
  // Some agents end the turn when one call is rejected.
  const details = reason === "refusal" ? answer : reason === "cancelled" ? (rejection ?? "") : "";
  return failure(errorCode, `${error} ${details}`.trim());
}

const STOP_FAILURES: Readonly<Record<string, readonly [TaskErrorCode, string]>> = {
  max_tokens: ["model_error", "The model reached its token limit, so its answer is incomplete."],
  max_turn_requests: ["max_turns", "The agent reached its limit of model calls per task."],
  refusal: ["model_error", "The model refused the task."],
  cancelled: ["adapter_error", "The agent canceled the task."],
};
