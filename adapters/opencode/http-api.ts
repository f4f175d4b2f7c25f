import { randomBytes } from "node:crypto";
import type { ConnectionResult, ProgramConnection, ProgramTask } from "../shared/agent-program/agent-program.ts";
import { programCapabilities } from "../shared/agent-program/capabilities.ts";
import { createFailedServerReader } from "../shared/agent-program/failed-mcp-servers.ts";
import { type Outcome, reportOrphans } from "../shared/agent-program/run-program.ts";
import { exitFailure, stopFailure } from "../shared/process/process-failure.ts";
import { type ProcessEnd, runProcess } from "../shared/process/run-process.ts";
import { type ConversationEnd, converse } from "./converse.ts";
import { FAILED_SERVER, find, LOG_FLAGS, probe } from "./program.ts";
import { planOpenCodeProxy } from "./proxy.ts";
import { retryStart } from "./retry-start.ts";
import { type OpenCodeStart, prepareStart } from "./start.ts";

/** Runs one `opencode serve` process per task and controls it over HTTP. */
export const httpApiConnection: ProgramConnection = {
  name: "http-api",
  capabilities: programCapabilities,
  // OpenCode discards a refusal of the model and reports an empty answer.
  emptyAnswers: "never",
  planProxy: planOpenCodeProxy,
  find,
  probe,
  execute,
};

async function execute(task: ProgramTask, argv: readonly string[]): Promise<ConnectionResult> {
  const start = await prepareStart(task, "http-api");
  return "status" in start ? start : await retryStart(() => serve(task, argv, start));
}

/** Runs a server until the conversation ends. */
async function serve(task: ProgramTask, argv: readonly string[], start: OpenCodeStart): Promise<ConnectionResult> {
  const { request, context, signal } = task;
  const password = randomBytes(32).toString("base64url");
  const stop = new AbortController();
  const running: { conversation?: Promise<ConversationEnd> } = {};

  // A running conversation aborts its session first and then stops the server.
  const stopIfIdle = (): void => {
    if (running.conversation === undefined) stop.abort();
  };
  signal.addEventListener("abort", stopIfIdle, { once: true });
  if (signal.aborted) stop.abort();
  const end = await runProcess({
    // With port 0 the system assigns a free port to each server.
    argv: [...argv, "serve", ...LOG_FLAGS, "--hostname", "127.0.0.1", "--port", "0"],
    env: { ...start.env, OPENCODE_SERVER_PASSWORD: password },
    // tsconfig.json of the workspace could make OpenCode load code if it started there. The requests name the workspace.
    cwd: request.directories.tmp,
    taskId: request.taskId,
    trace: request,
    tmp: request.directories.tmp,
    home: request.directories.home,
    workspace: request.directories.workspace,
    sandbox: context.sandbox,
    input: "",
    onLine(line) {
      const origin = /listening on (http:\/\/127\.0\.0\.1:\d+)/.exec(line)?.[1];
      if (origin !== undefined) running.conversation ??= converse(task, start, { origin, password }).finally(() => stop.abort());
    },
    onErrorLine: createFailedServerReader(FAILED_SERVER, task),
    signal: stop.signal,
  }).finally(() => signal.removeEventListener("abort", stopIfIdle));

  reportOrphans(task, end);
  const conversation = await running.conversation;
  return { ...conversation?.facts, ...start.tally.getFacts(), ...decideOutcome(end, signal, conversation) };
}

/** Chooses the outcome. Precedence: a cancel, an exceeded limit, an unexpected exit of the server, the outcome of the conversation. */
function decideOutcome(end: ProcessEnd, signal: AbortSignal, conversation: ConversationEnd | undefined): Outcome {
  if (signal.aborted) return exitFailure({ ...end, aborted: true });
  const hasCrashed = conversation === undefined || (!end.aborted && conversation.outcome.status === "error");
  return stopFailure(end) ?? (hasCrashed ? exitFailure(end) : conversation.outcome);
}
