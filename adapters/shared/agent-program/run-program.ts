import type { UsageReport } from "#contract";
import { parseCutLine } from "../process/cut-line.ts";
import { parseJsonLine } from "../process/parse-json-line.ts";
import { exitFailure, stopFailure } from "../process/process-failure.ts";
import { JSON_OUTPUT_LIMITS, type ProcessEnd, type ProcessOptions, runProcess } from "../process/run-process.ts";
import type { ConnectionResult, ProgramTask } from "./agent-program.ts";
import type { TaskTimeline } from "./task-timeline.ts";

/** One change of a task that a line of a program's output reports. */
export type Step =
  | { kind: "text"; text: string }
  /** The current message is complete, so its text stays. */
  | { kind: "kept" }
  /** The runtime withdrew the text of the current message. */
  | { kind: "discarded"; reason: string }
  /** The runtime repeats the last part of its answer. */
  | { kind: "confirmed"; text: string }
  | { kind: "tool.invoked"; toolCallId: string; toolName: string; input: unknown }
  | { kind: "tool.completed"; toolCallId: string; output: unknown; isError: boolean; toolName?: string }
  | { kind: "progress"; data: Record<string, unknown> }
  | { kind: "usage"; data: UsageReport }
  /** Fields of the result. */
  | { kind: "facts"; facts: Omit<Partial<ConnectionResult>, "status"> }
  /** The outcome that the runtime reports. The first one counts. */
  | { kind: "ended"; outcome: Outcome };

/** The outcome of a task. */
export type Outcome = Pick<ConnectionResult, "status" | "errorCode" | "error">;

/** Converts one JSON line into steps. It may keep state between lines. */
export type LineReader = (line: Record<string, unknown>) => readonly Step[];

/** How to run a program that reports its events in JSON lines. */
export interface ProgramCall {
  argv: readonly string[];
  /** The whole environment, except HOME, TMPDIR and the task marker. */
  env: Readonly<Record<string, string>>;
  input: ProcessOptions["input"];
  /** Default: a pipe. */
  stdout?: NonNullable<ProcessOptions["stdout"]>;
  /** The working directory. Default: the one of the task. */
  cwd?: string;
  read: LineReader;
  /** Called for each line of stderr. */
  onErrorLine?(line: string): void;
  /** The outcome of a program that exited without reporting one; null: it crashed. */
  explainExit?(end: ProcessEnd): Outcome | null;
  /** How long a program may take to exit after it reported the outcome. After that it is stopped, and the outcome stays. */
  exitAfterEndMs?: number;
}

const EXIT_AFTER_END_MS = 5_000;

/** Runs a program for one task, records its steps in the timeline, and returns the result. */
export async function runProgram(task: ProgramTask, call: ProgramCall): Promise<ConnectionResult> {
  const { request, context, timeline, signal } = task;
  const stop = new AbortController();
  let exitTimer: NodeJS.Timeout | undefined;
  let facts: Omit<Partial<ConnectionResult>, "status"> = {};
  let reported = null as Outcome | null;

  const applyProgramStep = (step: Step): void => {
    if (step.kind === "facts") facts = { ...facts, ...step.facts };
    else if (step.kind !== "ended") applyStep(timeline, step);
    else if (reported === null && !signal.aborted) {
      reported = step.outcome;
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
    trace: request,
    tmp: request.directories.tmp,
    home: request.directories.home,
    workspace: request.directories.workspace,
    sandbox: context.sandbox,
    onLine(line) {
      task.offeredTools?.noteOutput();
      const object = parseJsonLine(line);
      if (object === null) context.logger.debug({ taskId: request.taskId, line: line.slice(0, 500) }, "program output is not JSON");
      else for (const step of call.read(object)) applyProgramStep(step);
    },
    onErrorLine: call.onErrorLine,
    onLongLine(beginning) {
      task.offeredTools?.noteOutput();
      const object = parseCutLine(beginning);
      const steps = object === null ? [] : call.read(object);
      if (!reportsOnlyCalls(steps)) return false;
      for (const step of steps) applyProgramStep(step);
      return true;
    },
    signal: AbortSignal.any([signal, stop.signal]),
    limits: JSON_OUTPUT_LIMITS,
  }).finally(() => clearTimeout(exitTimer));

  reportOrphans(task, end);
  return { ...facts, ...outcomeOf(task, call, end, reported) };
}

/** Whether steps report tool calls and nothing else. The input and output of a call may be cut, an answer may not. */
function reportsOnlyCalls(steps: readonly Step[]): boolean {
  return steps.length > 0 && steps.every(({ kind }) => kind === "tool.invoked" || kind === "tool.completed");
}

/** Records a step in the timeline of its task. */
export function applyStep(timeline: TaskTimeline, step: Exclude<Step, { kind: "facts" | "ended" }>): void {
  if (step.kind === "text") timeline.appendText(step.text);
  else if (step.kind === "kept") timeline.keepText();
  else if (step.kind === "discarded") timeline.discardText(step.reason);
  else if (step.kind === "confirmed") timeline.confirmLastPart(step.text);
  else if (step.kind === "tool.invoked") timeline.startTool(step.toolCallId, step.toolName, step.input);
  else if (step.kind === "tool.completed") timeline.finishTool(step.toolCallId, step.output, step.isError, step.toolName);
  else if (step.kind === "usage") timeline.reportUsage(step.data);
  else timeline.reportProgress(step.data);
}

/** Counts and logs the processes that outlived their task. */
export function reportOrphans({ request, context }: Pick<ProgramTask, "request" | "context">, end: ProcessEnd): void {
  if (end.orphansLeft > 0)
    context.logger.warn({ taskId: request.taskId, processes: end.orphansLeft }, "failed to kill processes of the task");
  if (end.orphansKilled > 0) context.onOrphansKilled(end.orphansKilled);
}

/**
 * Returns the first of these: the failure of an exceeded limit, the reported outcome, the outcome that the exit means. A program
 * can fail with exit code 0, so the exit code alone does not decide.
 */
function outcomeOf({ signal }: ProgramTask, call: ProgramCall, end: ProcessEnd, reported: Outcome | null): Outcome {
  const decided = stopFailure(end, JSON_OUTPUT_LIMITS) ?? reported;
  if (decided !== null) return decided;
  const explained = signal.aborted ? undefined : call.explainExit?.(end);
  return explained ?? exitFailure(end);
}
