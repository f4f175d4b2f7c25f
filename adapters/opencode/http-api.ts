import { randomBytes } from "node:crypto";
import type { Ending, ProgramConnection, ProgramTask } from "../shared/agent-program/agent-program.ts";
import { programCapabilities } from "../shared/agent-program/capabilities.ts";
import { reportOrphans, type Verdict } from "../shared/agent-program/run-program.ts";
import { exitFailure, stopFailure } from "../shared/process/process-failure.ts";
import { type ProcessEnd, runProcess } from "../shared/process/run-process.ts";
import { converse, type Outcome } from "./converse.ts";
import { find, probe } from "./program.ts";
import { startUntilAlone } from "./retry-start.ts";
import { type OpenCodeStart, prepareStart } from "./start.ts";

/** One `opencode serve` a task, spoken to over HTTP. */
export const httpApiConnection: ProgramConnection = {
  name: "http-api",
  capabilities: programCapabilities,
  // OpenCode drops a refusal and reports an empty answer.
  emptyAnswers: "never",
  find,
  probe,
  execute,
};

async function execute(task: ProgramTask, argv: readonly string[]): Promise<Ending> {
  const start = await prepareStart(task, "http-api");
  return "status" in start ? start : await startUntilAlone(() => serve(task, argv, start));
}

/** Runs a server for as long as the conversation with it takes. */
async function serve(task: ProgramTask, argv: readonly string[], start: OpenCodeStart): Promise<Ending> {
  const { request, context, signal } = task;
  const password = randomBytes(32).toString("base64url");
  const stop = new AbortController();
  const held: { conversation?: Promise<Outcome> } = {};

  // A conversation stops by itself, once its server knows.
  const stopAtOnce = (): void => {
    if (held.conversation === undefined) stop.abort();
  };
  signal.addEventListener("abort", stopAtOnce, { once: true });
  if (signal.aborted) stop.abort();
  const end = await runProcess({
    // The port is one that is free, so that servers do not meet.
    argv: [...argv, "serve", "--hostname", "127.0.0.1", "--port", "0"],
    env: { ...start.env, OPENCODE_SERVER_PASSWORD: password },
    // Not in the workspace, whose tsconfig.json could name code for it to load; the requests name that.
    cwd: request.directories.tmp,
    taskId: request.taskId,
    tmp: request.directories.tmp,
    home: request.directories.home,
    workspace: request.directories.workspace,
    sandbox: context.sandbox,
    input: "",
    onLine(line) {
      const origin = /listening on (http:\/\/127\.0\.0\.1:\d+)/.exec(line)?.[1];
      if (origin !== undefined) held.conversation ??= converse(task, start, { origin, password }).finally(() => stop.abort());
    },
    signal: stop.signal,
  }).finally(() => signal.removeEventListener("abort", stopAtOnce));

  reportOrphans(task, end);
  const outcome = await held.conversation;
  return { ...outcome?.facts, ...start.tally.facts(), ...judge(end, signal, outcome) };
}

/** What decides: that it was cancelled, that the server went too far or away by itself, what the conversation came to. */
function judge(end: ProcessEnd, signal: AbortSignal, outcome: Outcome | undefined): Verdict {
  if (signal.aborted) return exitFailure({ ...end, aborted: true });
  const isGone = outcome === undefined || (!end.aborted && outcome.verdict.status === "error");
  return stopFailure(end) ?? (isGone ? exitFailure(end) : outcome.verdict);
}
