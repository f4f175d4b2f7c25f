import { errors } from "undici";
import type { ExecutionRequest } from "#contract";
import type { ConnectionResult, ProgramTask } from "../shared/agent-program/agent-program.ts";
import { formatPrompt } from "../shared/agent-program/prompt.ts";
import { applyStep, type Outcome } from "../shared/agent-program/run-program.ts";
import { failure } from "../shared/process/failure.ts";
import { createPermissionHandler } from "./answer-permission.ts";
import { AGENT_NAME } from "./permissions.ts";
import { createServerClient, type OpenCodeServer } from "./server.ts";
import { createServerReader, type ServerReader } from "./server-events.ts";
import type { OpenCodeStart } from "./start.ts";

/** The result of a conversation. */
export interface ConversationEnd {
  facts: Omit<Partial<ConnectionResult>, "status">;
  outcome: Outcome;
}

/** Runs one task on its server until the session ends. When the task is aborted, its session is aborted as well. */
export async function converse(
  task: ProgramTask,
  start: OpenCodeStart,
  { origin, password }: { origin: string; password: string },
): Promise<ConversationEnd> {
  const { request, timeline, signal } = task;
  const server = createServerClient({ origin, password, directory: request.directories.cwd });
  const decided = Promise.withResolvers<Outcome>();
  decided.promise.catch(() => {}); // It may reject before it is awaited.
  const facts: ConversationEnd["facts"] = {};
  let read: ServerReader = () => [];
  const answer = createPermissionHandler(task, server.replyPermission);

  const aborted = new Promise<Outcome>((resolve) => {
    const stop = async (): Promise<void> => {
      if (facts.resumeToken !== undefined) await server.abort(facts.resumeToken);
      resolve(failure("cancelled", "The task was canceled."));
    };
    if (signal.aborted) void stop();
    else signal.addEventListener("abort", () => void stop(), { once: true });
  });

  const onEvent = (event: unknown): void => {
    task.offeredTools?.noteOutput();
    for (const step of read(event)) {
      if (step.kind === "ended") decided.resolve(step.outcome);
      else if (step.kind === "facts") Object.assign(facts, step.facts);
      else if (step.kind === "asked") answer(step).catch(decided.reject);
      else applyStep(timeline, step);
    }
  };

  const runPrompt = async (): Promise<Outcome> => {
    const { ended } = await server.follow(onEvent);
    await server.checkAgent(start.permissions);
    const session = await openSession(server, request);
    if (session === null) return failure("adapter_error", "OpenCode does not know the session of the resume token.");
    facts.resumeToken = session;
    read = createServerReader(session, start.tally);
    await server.prompt(session, createPromptBody(request, start));
    const endedEarly = ended.then(() => failure("runtime_crashed", "OpenCode closed its event stream before the task ended."));
    return await Promise.race([decided.promise, endedEarly]);
  };

  try {
    const outcome = await Promise.race([runPrompt(), aborted]);
    // Stops activity that continues after the outcome, such as retries.
    if (outcome.status === "error" && facts.resumeToken !== undefined && !signal.aborted) await server.abort(facts.resumeToken);
    return { facts, outcome };
  } catch (error) {
    return { facts, outcome: explainConnectionError(error as Error) };
  } finally {
    await server.close();
  }
}

/** Maps an error of the connection to an outcome. A connection often breaks before the exit of a crashed server is noticed. */
function explainConnectionError(error: Error): Outcome {
  const isCrash =
    error instanceof errors.SocketError || ["ECONNRESET", "ECONNREFUSED", "EPIPE"].includes((error as NodeJS.ErrnoException).code ?? "");
  return isCrash ? failure("runtime_crashed", "The connection to OpenCode's server was lost.") : failure("adapter_error", error.message);
}

async function openSession(server: OpenCodeServer, { resumeToken }: ExecutionRequest): Promise<string | null> {
  if (resumeToken === undefined) return await server.createSession();
  return (await server.hasSession(resumeToken)) ? resumeToken : null;
}

function createPromptBody(request: ExecutionRequest, { model }: OpenCodeStart): Record<string, unknown> {
  const { outputStrategy, systemPrompt } = request;
  // OpenCode returns structured output as the input of a tool call, which must be an object.
  const isStructured = outputStrategy.type === "structured" && outputStrategy.schema["type"] === "object";
  return {
    agent: AGENT_NAME,
    parts: [{ type: "text", text: formatPrompt(request) }],
    ...(model === null ? {} : { model }),
    ...(systemPrompt === undefined ? {} : { system: systemPrompt }),
    ...(isStructured ? { format: { type: "json_schema", schema: outputStrategy.schema } } : {}),
  };
}
