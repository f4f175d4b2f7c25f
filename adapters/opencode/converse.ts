import { errors } from "undici";
import type { ExecutionRequest } from "#contract";
import type { Ending, ProgramTask } from "../shared/agent-program/agent-program.ts";
import { promptOf } from "../shared/agent-program/prompt.ts";
import { tellStep, type Verdict } from "../shared/agent-program/run-program.ts";
import { createAnswering } from "./answer-permission.ts";
import { failure } from "./failures.ts";
import { agentName } from "./permissions.ts";
import { createServerClient, type OpenCodeServer } from "./server.ts";
import { createServerReader, type ServerReader } from "./server-events.ts";
import type { OpenCodeStart } from "./start.ts";

/** What a conversation has brought. */
export interface Outcome {
  facts: Omit<Partial<Ending>, "status">;
  verdict: Verdict;
}

/** Holds the conversation of one task with its server, to its end; an aborted task is aborted in its session, too. */
export async function converse(
  task: ProgramTask,
  start: OpenCodeStart,
  { origin, password }: { origin: string; password: string },
): Promise<Outcome> {
  const { request, story, signal } = task;
  const server = createServerClient({ origin, password, directory: request.directories.cwd });
  const judged = Promise.withResolvers<Verdict>();
  judged.promise.catch(() => {}); // it may be rejected before anybody waits for it
  const facts: Outcome["facts"] = {};
  let read: ServerReader = () => [];
  const answer = createAnswering(task, server.replyPermission);

  const aborted = new Promise<Verdict>((resolve) => {
    const stop = async (): Promise<void> => {
      if (facts.resumeToken !== undefined) await server.abort(facts.resumeToken);
      resolve(failure("cancelled", "The task was cancelled."));
    };
    if (signal.aborted) void stop();
    else signal.addEventListener("abort", stop, { once: true });
  });

  const onEvent = (event: unknown): void => {
    task.offeredTools?.heard();
    for (const step of read(event)) {
      if (step.kind === "ended") judged.resolve(step.ending);
      else if (step.kind === "known") Object.assign(facts, step.facts);
      else if (step.kind === "asked") answer(step).catch(judged.reject);
      else tellStep(story, step);
    }
  };

  const talk = async (): Promise<Verdict> => {
    const { ended } = await server.follow(onEvent);
    await server.checkAgent(start.permissions);
    const session = await openSession(server, request);
    if (session === null) return failure("adapter_error", "OpenCode does not know the session of the resume token.");
    facts.resumeToken = session;
    read = createServerReader(session, start.tally);
    await server.prompt(session, promptBody(request, start));
    return await Promise.race([judged.promise, ended.then(() => failure("runtime_crashed", "OpenCode ended its events too early."))]);
  };

  try {
    const verdict = await Promise.race([talk(), aborted]);
    // What goes on behind a verdict, such as further tries, is over.
    if (verdict.status === "error" && facts.resumeToken !== undefined && !signal.aborted) await server.abort(facts.resumeToken);
    return { facts, verdict };
  } catch (error) {
    return { facts, verdict: explainBreak(error as Error) };
  } finally {
    await server.close();
  }
}

/** A connection breaks when the server dies: that is often seen before its exit is. */
function explainBreak(error: Error): Verdict {
  const isGone =
    error instanceof errors.SocketError || ["ECONNRESET", "ECONNREFUSED", "EPIPE"].includes((error as NodeJS.ErrnoException).code ?? "");
  return isGone ? failure("runtime_crashed", "OpenCode's server was gone all at once.") : failure("adapter_error", error.message);
}

async function openSession(server: OpenCodeServer, { resumeToken }: ExecutionRequest): Promise<string | null> {
  if (resumeToken === undefined) return await server.createSession();
  return (await server.hasSession(resumeToken)) ? resumeToken : null;
}

function promptBody(request: ExecutionRequest, { model }: OpenCodeStart): Record<string, unknown> {
  const { outputStrategy, systemPrompt } = request;
  // Answers in a form are calls of a tool, whose input is an object.
  const hasForm = outputStrategy.type === "structured" && outputStrategy.schema["type"] === "object";
  return {
    agent: agentName,
    parts: [{ type: "text", text: promptOf(request) }],
    ...(model === null ? {} : { model }),
    ...(systemPrompt === undefined ? {} : { system: systemPrompt }),
    ...(hasForm ? { format: { type: "json_schema", schema: outputStrategy.schema } } : {}),
  };
}
