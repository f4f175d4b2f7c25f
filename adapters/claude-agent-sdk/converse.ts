import type { Ending, ProgramTask } from "../shared/agent-program/agent-program.ts";
import { runForeign } from "../shared/agent-program/foreign-code.ts";
import { promptOf } from "../shared/agent-program/prompt.ts";
import { reportOrphans, type Step, tellStep, type Verdict } from "../shared/agent-program/run-program.ts";
import { unlessAborted } from "../shared/agent-program/unless-aborted.ts";
import { claudeEnvironment } from "../shared/claude-code/environment.ts";
import { createClaudeReader } from "../shared/claude-code/events.ts";
import { exitFailure, stopFailure } from "../shared/process/process-failure.ts";
import { type ProcessEnd, processLimits } from "../shared/process/run-process.ts";
import { createAnswering } from "./answer-permission.ts";
import { createChildProcess, stdoutBytes } from "./child-process.ts";
import { homeSetting } from "./home-setting.ts";
import { optionsFor } from "./options.ts";
import { type ClaudeAgentSdk, createFaultLog, type Query, type UserMessage } from "./sdk.ts";

/** How long a program may take to tell its result when its turn is interrupted, and to exit once it has told it: it takes up to 1.5 s to tidy up. */
const INTERRUPT_LIMIT_MS = 1_500;
const EXIT_LIMIT_MS = 5_000;
/** How long an SDK may be silent that has no program any more. */
const LAST_WORDS_MS = 1_000;

/** What to talk to, and the schema that the program is to keep to; null: none. */
export interface Conversation {
  sdk: ClaudeAgentSdk;
  program: string;
  schema: string | null;
}

/** Holds the conversation of one task with the SDK, to the end of its process; a task that is stopped is interrupted, so that it tells what it has cost. */
export async function converse(task: ProgramTask, { sdk, program, schema }: Conversation): Promise<Ending> {
  const { request, context, story, signal } = task;
  const env = claudeEnvironment(context, { CLAUDE_CODE_TMPDIR: request.directories.tmp });
  const child = createChildProcess(task, env);
  const prompted = Promise.withResolvers<void>();
  const read = createClaudeReader({ homeSetting });
  let facts: Omit<Partial<Ending>, "status"> = {};
  let told: Verdict | null = null;
  let query: Query | null = null;
  let hasBegun = false;
  let timer: NodeJS.Timeout | undefined;

  const stopIn = (limitMs: number): void => {
    clearTimeout(timer);
    timer = setTimeout(child.stop, limitMs);
  };
  const take = (step: Step): void => {
    if (step.kind === "known") facts = { ...facts, ...step.facts };
    else if (step.kind !== "ended") tellStep(story, step);
    else {
      if (!signal.aborted) told ??= step.ending;
      // The program exits when nobody has anything more to say to it.
      prompted.resolve();
      stopIn(EXIT_LIMIT_MS);
    }
  };

  const options = {
    ...optionsFor(request, schema),
    pathToClaudeCodeExecutable: program,
    env,
    spawnClaudeCodeProcess: child.spawn,
    ...(request.profile === "inspect" ? { permissionPrompts: "none" } : { canUseTool: createAnswering(task, child.gone) }),
  };
  const begin = (): Query => {
    query = sdk.query({ prompt: speak(promptOf(request), prompted.promise), options });
    return query;
  };
  const onFault = createFaultLog(context.logger, { taskId: request.taskId });
  const interrupt = async (): Promise<unknown> => await runForeign(onFault, () => query?.interrupt());
  const stop = (): void => {
    // Before its first word it has nothing to finish.
    stopIn(hasBegun ? INTERRUPT_LIMIT_MS : 0);
    if (hasBegun) interrupt().catch(() => {});
  };
  signal.addEventListener("abort", stop, { once: true });
  if (signal.aborted) stop();

  let broken: Error | null = null;
  const onBreak = (error: Error): void => {
    broken = error;
  };
  try {
    for await (const message of untilBroken(begin, child.gone, { onBreak, onFault })) {
      hasBegun = true;
      task.offeredTools?.heard();
      for (const step of read(message as Record<string, unknown>)) take(step);
    }
  } finally {
    signal.removeEventListener("abort", stop);
    prompted.resolve();
    stopIn(EXIT_LIMIT_MS);
    await child.ended().finally(() => clearTimeout(timer));
    // None begins after the end.
    child.stop();
  }
  const end = await child.ended();
  if (end !== null) reportOrphans(task, end);
  return { ...facts, ...verdict(task, end, told, broken) };
}

/** One message, and then silence for as long as the program may need an ear: with its stdin it loses whom to ask. */
async function* speak(text: string, ended: Promise<void>): AsyncGenerator<UserMessage, void, undefined> {
  yield { type: "user", message: { role: "user", content: [{ type: "text", text }] }, parent_tool_use_id: null };
  await ended;
}

/**
 * The SDK throws what the program has told already, such as a result that is an error; a mistake of whoever listens is not meant. One that does
 * not end with its program is left alone.
 */
async function* untilBroken(
  begin: () => Query,
  gone: AbortSignal,
  { onBreak, onFault }: { onBreak(error: Error): void; onFault(error: unknown): void },
): AsyncGenerator<unknown, void, undefined> {
  let messages: AsyncIterator<unknown> | null = null;
  try {
    const begun = runForeign(onFault, () => begin()[Symbol.asyncIterator]());
    messages = begun;
    for (;;) {
      const next = await unlessAborted(
        runForeign(onFault, () => begun.next()),
        gone,
        LAST_WORDS_MS,
      );
      if (next === null || next.done === true) return;
      yield next.value;
    }
  } catch (error) {
    onBreak(error as Error);
  } finally {
    const end = async (): Promise<unknown> => await runForeign(onFault, () => messages?.return?.());
    end().catch(() => {});
  }
}

/** How a task ends that was stopped. */
export const cancelled: Verdict = { status: "error", errorCode: "cancelled", error: "The task was cancelled." };

/** What decides: a limit, what the program told, what its exit means. */
function verdict({ signal }: ProgramTask, end: ProcessEnd | null, told: Verdict | null, broken: Error | null): Verdict {
  const decided = (end === null ? null : stopFailure(end, { ...processLimits, stdoutBytes })) ?? told;
  if (decided !== null) return decided;
  if (signal.aborted) return cancelled;
  if (end !== null && end.exitCode !== 0) return exitFailure({ ...end, aborted: false });
  return {
    status: "error",
    errorCode: "adapter_error",
    error: `The Claude Agent SDK ended without a result. ${broken?.message ?? ""}`.trim(),
  };
}
