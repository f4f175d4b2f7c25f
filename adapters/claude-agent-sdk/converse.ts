import { nullIfAborted } from "@hak2i/async-kit";
import type { ConnectionResult, ProgramTask } from "../shared/agent-program/agent-program.ts";
import { isolateErrors } from "../shared/agent-program/isolate-errors.ts";
import { formatPrompt } from "../shared/agent-program/prompt.ts";
import { applyStep, type Outcome, reportOrphans, type Step } from "../shared/agent-program/run-program.ts";
import { createClaudeEnvironment } from "../shared/claude-code/environment.ts";
import { createClaudeReader } from "../shared/claude-code/events.ts";
import { failure } from "../shared/process/failure.ts";
import { exitFailure, stopFailure } from "../shared/process/process-failure.ts";
import { JSON_OUTPUT_LIMITS, type ProcessEnd } from "../shared/process/run-process.ts";
import { createPermissionHandler } from "./answer-permission.ts";
import { createChildProcess } from "./child-process.ts";
import { createOptions } from "./options.ts";
import { type ClaudeAgentSdk, createFaultLog, type Query, type UserMessage } from "./sdk.ts";
import { homeSetting } from "./settings.ts";

/** Time for the program to report its result after an interrupt. */
const INTERRUPT_LIMIT_MS = 1_500;
/** Time for the program to exit after its result; its cleanup takes up to 1.5 s. */
const EXIT_LIMIT_MS = 5_000;
/** Time for the SDK to deliver remaining messages after its program has exited. */
const LAST_MESSAGES_MS = 1_000;

/** What a conversation with the program uses. */
export interface Conversation {
  sdk: ClaudeAgentSdk;
  /** The Claude Code executable. */
  program: string;
  /** JSON Schema of the output; null for none. */
  schema: string | null;
}

/** Runs one task on the SDK until its process exits. A stopped task is interrupted first, so that Claude Code still reports its cost. */
export async function converse(task: ProgramTask, { sdk, program, schema }: Conversation): Promise<ConnectionResult> {
  const { request, context, timeline, signal } = task;
  const env = createClaudeEnvironment(context, { CLAUDE_CODE_TMPDIR: request.directories.tmp });
  const child = createChildProcess(task, env);
  const inputEnd = Promise.withResolvers<void>();
  const read = createClaudeReader({ homeSetting });
  let facts: Omit<Partial<ConnectionResult>, "status"> = {};
  let reported: Outcome | null = null;
  let query: Query | null = null;
  let hasStarted = false;
  let timer: NodeJS.Timeout | undefined;

  const scheduleStop = (limitMs: number): void => {
    clearTimeout(timer);
    timer = setTimeout(child.stop, limitMs);
  };
  const applyProgramStep = (step: Step): void => {
    if (step.kind === "facts") facts = { ...facts, ...step.facts };
    else if (step.kind !== "ended") applyStep(timeline, step);
    else {
      if (!signal.aborted) reported ??= step.outcome;
      // The program exits when its input ends.
      inputEnd.resolve();
      scheduleStop(EXIT_LIMIT_MS);
    }
  };

  const options = {
    ...createOptions(request, schema),
    pathToClaudeCodeExecutable: program,
    env,
    spawnClaudeCodeProcess: child.spawn,
    ...(request.profile === "inspect" ? { permissionPrompts: "none" } : { canUseTool: createPermissionHandler(task, child.exited) }),
  };
  const startQuery = (): Query => {
    query = sdk.query({ prompt: streamPrompt(formatPrompt(request), inputEnd.promise), options });
    return query;
  };
  const onFault = createFaultLog(context.logger, { taskId: request.taskId });
  const interrupt = async (): Promise<unknown> => await isolateErrors(onFault, () => query?.interrupt());
  const stop = (): void => {
    // Before its first message the program has no cost to report.
    scheduleStop(hasStarted ? INTERRUPT_LIMIT_MS : 0);
    if (hasStarted) interrupt().catch(() => {});
  };
  signal.addEventListener("abort", stop, { once: true });
  if (signal.aborted) stop();

  let queryError: Error | null = null;
  const onQueryError = (error: Error): void => {
    queryError = error;
  };
  try {
    for await (const message of readMessages(startQuery, child.exited, { onQueryError, onFault })) {
      hasStarted = true;
      task.offeredTools?.noteOutput();
      for (const step of read(message as Record<string, unknown>)) applyProgramStep(step);
    }
  } finally {
    signal.removeEventListener("abort", stop);
    inputEnd.resolve();
    scheduleStop(EXIT_LIMIT_MS);
    await child.waitForEnd().finally(() => clearTimeout(timer));
    // The SDK may not start a process after this point.
    child.stop();
  }
  const end = await child.waitForEnd();
  if (end !== null) reportOrphans(task, end);
  return { ...facts, ...decideOutcome(task, end, reported, queryError) };
}

/** Yields one message and then keeps the input open until `inputEnd` resolves, because the program needs it for permission requests. */
async function* streamPrompt(text: string, inputEnd: Promise<void>): AsyncGenerator<UserMessage, void, undefined> {
  yield { type: "user", message: { role: "user", content: [{ type: "text", text }] }, parent_tool_use_id: null };
  await inputEnd;
}

/**
 * Yields the messages of the SDK. An error of the SDK ends the messages and is passed to `onQueryError`; an error of the consumer is not
 * caught. The SDK has LAST_MESSAGES_MS after the exit of its program, and is then abandoned.
 */
async function* readMessages(
  startQuery: () => Query,
  exited: AbortSignal,
  { onQueryError, onFault }: { onQueryError(error: Error): void; onFault(error: unknown): void },
): AsyncGenerator<unknown, void, undefined> {
  let messages: AsyncIterator<unknown> | null = null;
  try {
    const iterator = isolateErrors(onFault, () => startQuery()[Symbol.asyncIterator]());
    messages = iterator;
    for (;;) {
      const next = await nullIfAborted(
        isolateErrors(onFault, () => iterator.next()),
        exited,
        LAST_MESSAGES_MS,
      );
      if (next === null || next.done === true) return;
      yield next.value;
    }
  } catch (error) {
    onQueryError(error as Error);
  } finally {
    const end = async (): Promise<unknown> => await isolateErrors(onFault, () => messages?.return?.());
    end().catch(() => {});
  }
}

/** The outcome of a stopped task. */
export const CANCELED: Outcome = failure("cancelled", "The task was canceled.");

/** Chooses the outcome. Precedence: an exceeded limit, the result that the program reported, its exit. */
function decideOutcome({ signal }: ProgramTask, end: ProcessEnd | null, reported: Outcome | null, queryError: Error | null): Outcome {
  const decided = (end === null ? null : stopFailure(end, JSON_OUTPUT_LIMITS)) ?? reported;
  if (decided !== null) return decided;
  if (signal.aborted) return CANCELED;
  if (end !== null && end.exitCode !== 0) return exitFailure({ ...end, aborted: false });
  return failure("adapter_error", `The Claude Agent SDK ended without a result. ${queryError?.message ?? ""}`.trim());
}
