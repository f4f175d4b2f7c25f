import { exitFailure, stopFailure } from "../process/process-failure.ts";
import { type ProcessEnd, type ProcessOptions, processLimits, runProcess } from "../process/run-process.ts";
import type { ConnectionResult, ProgramTask } from "./agent-program.ts";
import type { TaskTimeline } from "./task-timeline.ts";

/**
 * What a line of a program means for its task. `known` adds to what the end of the task will tell; `ended` is the runtime's own verdict,
 * the first of which decides.
 */
export type Step =
  | { kind: "text"; text: string }
  /** The message under way has come to its end: its text stays. */
  | { kind: "kept" }
  /** The text of the message under way is thrown away. */
  | { kind: "discarded"; reason: string }
  /** The program repeats the last part of its answer. */
  | { kind: "confirmed"; text: string }
  | { kind: "tool.invoked"; toolCallId: string; toolName: string; input: unknown }
  | { kind: "tool.completed"; toolCallId: string; output: unknown; isError: boolean; toolName?: string }
  | { kind: "progress"; data: Record<string, unknown> }
  | { kind: "facts"; facts: Omit<Partial<ConnectionResult>, "status"> }
  | { kind: "ended"; outcome: Outcome };

/** How a task went. */
export type Outcome = Pick<ConnectionResult, "status" | "errorCode" | "error">;

/** Reads one JSON line at a time; keeps what it must remember between lines. Pure but for that memory. */
export type LineReader = (line: Record<string, unknown>) => readonly Step[];

/** How to run a program that tells its timeline in JSON lines. */
export interface ProgramCall {
  argv: readonly string[];
  /** The whole environment but for HOME, TMPDIR and the marker. */
  env: Readonly<Record<string, string>>;
  input: ProcessOptions["input"];
  /** Absent: a pipe. */
  stdout?: NonNullable<ProcessOptions["stdout"]>;
  /** Where it starts. Absent: where the task works. */
  cwd?: string;
  read: LineReader;
  /** What the exit means where no line told the end; null: a crash. */
  explainExit?(end: ProcessEnd): Outcome | null;
  /** How long a program that has told its end may take to exit; then it is stopped, and what it told stands. */
  exitAfterEndMs?: number;
}

/** Events in JSON cost a multiple of its text, so it may be longer than a program's plain output. */
const stdoutBytes = 8 * processLimits.stdoutBytes;
const EXIT_AFTER_END_MS = 5_000;

/** Runs a program for one task, tells its timeline, and says how it ended. */
export async function runProgram(task: ProgramTask, call: ProgramCall): Promise<ConnectionResult> {
  const { request, context, timeline, signal } = task;
  const stop = new AbortController();
  let exitTimer: NodeJS.Timeout | undefined;
  let facts: Omit<Partial<ConnectionResult>, "status"> = {};
  let told = null as Outcome | null;

  const take = (step: Step): void => {
    if (step.kind === "facts") facts = { ...facts, ...step.facts };
    else if (step.kind !== "ended") applyStep(timeline, step);
    else if (told === null && !signal.aborted) {
      told = step.outcome;
      exitTimer = setTimeout(() => stop.abort(), call.exitAfterEndMs ?? EXIT_AFTER_END_MS);
    }
  };
  const end = await runProcess({
    argv: call.argv,
    env: call.env,
    input: call.input,
    stdout: call.stdout ?? "pipe",
    cwd: call.cwd ?? request.directories.cwd,
    taskId: request.taskId,
    tmp: request.directories.tmp,
    home: request.directories.home,
    workspace: request.directories.workspace,
    sandbox: context.sandbox,
    onLine(line) {
      task.offeredTools?.noteOutput();
      const object = parseObject(line);
      if (object === null)
        context.logger.debug({ taskId: request.taskId, line: line.slice(0, 500) }, "the program wrote a line that is no JSON");
      else for (const step of call.read(object)) take(step);
    },
    signal: AbortSignal.any([signal, stop.signal]),
    limits: { stdoutBytes },
  }).finally(() => clearTimeout(exitTimer));

  reportOrphans(task, end);
  return { ...facts, ...verdict(task, call, end, told) };
}

/** Tells what happened, as part of the timeline of its task. */
export function applyStep(timeline: TaskTimeline, step: Exclude<Step, { kind: "facts" | "ended" }>): void {
  if (step.kind === "text") timeline.appendText(step.text);
  else if (step.kind === "kept") timeline.keepText();
  else if (step.kind === "discarded") timeline.discardText(step.reason);
  else if (step.kind === "confirmed") timeline.confirmLastPart(step.text);
  else if (step.kind === "tool.invoked") timeline.startTool(step.toolCallId, step.toolName, step.input);
  else if (step.kind === "tool.completed") timeline.finishTool(step.toolCallId, step.output, step.isError, step.toolName);
  else timeline.reportProgress(step.data);
}

/** Says how many processes outlived their task. */
export function reportOrphans({ request, context }: Pick<ProgramTask, "request" | "context">, end: ProcessEnd): void {
  if (end.orphansLeft > 0)
    context.logger.warn({ taskId: request.taskId, processes: end.orphansLeft }, "processes of the task could not be killed");
  if (end.orphansKilled > 0) context.onOrphansKilled(end.orphansKilled);
}

/** What decides: a limit, what the program told, what its exit means. Never the exit code alone. */
function verdict({ signal }: ProgramTask, call: ProgramCall, end: ProcessEnd, told: Outcome | null): Outcome {
  const decided = stopFailure(end, { ...processLimits, stdoutBytes }) ?? told;
  if (decided !== null) return decided;
  const explained = signal.aborted ? undefined : call.explainExit?.(end);
  return explained ?? exitFailure(end);
}

function parseObject(line: string): Record<string, unknown> | null {
  if (!line.startsWith("{")) return null;
  try {
    return JSON.parse(line) as Record<string, unknown>;
  } catch {
    return null;
  }
}
