import { errors } from "undici";
import type { ExecutionRequest } from "#contract";
import type { Ending, ProgramTask } from "../shared/agent-program/agent-program.ts";
import { promptOf } from "../shared/agent-program/prompt.ts";
import { tellStep, type Verdict } from "../shared/agent-program/run-program.ts";
import { createPermissionHandler } from "./answer-permission.ts";
import { failure } from "./failures.ts";
import { AGENT_NAME } from "./permissions.ts";
import { createServerClient, type OpenCodeServer } from "./server.ts";
import { createServerReader, type ServerReader } from "./server-events.ts";
import type { OpenCodeStart } from "./start.ts";

/** The result of a conversation. */
export interface Outcome {
  facts: Omit<Partial<Ending>, "status">;
  verdict: Verdict;
}

/** Runs one task on its server until the session ends. When the task is aborted, its session is aborted as well. */
export async function converse(
  task: ProgramTask,
  start: OpenCodeStart,
  { origin, password }: { origin: string; password: string },
): Promise<Outcome> {
  const { request, story, signal } = task;
  const server = createServerClient({ origin, password, directory: request.directories.cwd });
  const decided = Promise.withResolvers<Verdict>();
  decided.promise.catch(() => {}); // It may reject before it is awaited.
  const facts: Outcome["facts"] = {};
  let read: ServerReader = () => [];
  const answer = createPermissionHandler(task, server.replyPermission);

  const aborted = new Promise<Verdict>((resolve) => {
    const stop = async (): Promise<void> => {
      if (facts.resumeToken !== undefined) await server.abort(facts.resumeToken);
      resolve(failure("cancelled", "The task was canceled."));
    };
    if (signal.aborted) void stop();
    else signal.addEventListener("abort", stop, { once: true });
  });

  const onEvent = (event: unknown): void => {
    task.offeredTools?.heard();
    for (const step of read(event)) {
      if (step.kind === "ended") decided.resolve(step.ending);
      else if (step.kind === "known") Object.assign(facts, step.facts);
      else if (step.kind === "asked") answer(step).catch(decided.reject);
      else tellStep(story, step);
    }
  };

  const runPrompt = async (): Promise<Verdict> => {
    const { ended } = await server.follow(onEvent);
    await server.checkAgent(start.permissions);
    const session = await openSession(server, request);
    if (session === null) return failure("adapter_error", "OpenCode does not know the session of the resume token.");
    facts.resumeToken = session;
    read = createServerReader(session, start.tally);
    await server.prompt(session, promptBody(request, start));
    const endedEarly = ended.then(() => failure("runtime_crashed", "OpenCode closed its event stream before the task ended."));
    return await Promise.race([decided.promise, endedEarly]);
  };

  try {
    const verdict = await Promise.race([runPrompt(), aborted]);
    // Stops activity that continues after the verdict, such as retries.
    if (verdict.status === "error" && facts.resumeToken !== undefined && !signal.aborted) await server.abort(facts.resumeToken);
    return { facts, verdict };
  } catch (error) {
    return { facts, verdict: explainConnectionError(error as Error) };
  } finally {
    await server.close();
  }
}

/** Maps an error of the connection to a verdict. A connection often breaks before the exit of a crashed server is noticed. */
function explainConnectionError(error: Error): Verdict {
  const isCrash =
    error instanceof errors.SocketError || ["ECONNRESET", "ECONNREFUSED", "EPIPE"].includes((error as NodeJS.ErrnoException).code ?? "");
  return isCrash ? failure("runtime_crashed", "The connection to OpenCode's server was lost.") : failure("adapter_error", error.message);
}

async function openSession(server: OpenCodeServer, { resumeToken }: ExecutionRequest): Promise<string | null> {
  if (resumeToken === undefined) return await server.createSession();
  return (await server.hasSession(resumeToken)) ? resumeToken : null;
}

function promptBody(request: ExecutionRequest, { model }: OpenCodeStart): Record<string, unknown> {
  const { outputStrategy, systemPrompt } = request;
  // OpenCode returns structured output as the input of a tool call, which must be an object.
  const isStructured = outputStrategy.type === "structured" && outputStrategy.schema["type"] === "object";
  return {
    agent: AGENT_NAME,
    parts: [{ type: "text", text: promptOf(request) }],
    ...(model === null ? {} : { model }),
    ...(systemPrompt === undefined ? {} : { system: systemPrompt }),
    ...(isStructured ? { format: { type: "json_schema", schema: outputStrategy.schema } } : {}),
  };
}
