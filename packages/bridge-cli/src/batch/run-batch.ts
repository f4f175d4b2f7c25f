import { BridgeClientError, type FieldError, type Task } from "bridge-client";
import type { TaskOptions } from "../build-dispatch.ts";
import type { Connection } from "../connection.ts";
import { exitCodeOfError, exitCodeOfTask } from "../exit-code-of.ts";
import { type ExitCode, exitCodes } from "../exit-codes.ts";
import type { Output } from "../output.ts";
import { toOneLine } from "../show-hidden.ts";
import { taskColumns } from "../task-columns.ts";
import { paint } from "../text.ts";
import type { Invocation } from "../verb.ts";
import { type BatchTask, type LineFault, readBatch, rejectFaults } from "./read-batch.ts";

/** Options of a batch. */
export interface BatchOptions extends TaskOptions {
  jobs?: number;
  detach?: boolean;
  dryRun?: boolean;
}

const DEFAULT_JOBS = 4;

/** How many tasks ended in which way, for the status line and the summary. */
interface Counts {
  ended: number;
  completed: number;
  replayed: number;
}

/**
 * Dispatches the tasks of a file, several at the same time, and prints one line for each when it has ended. Bridge checks all of them
 * first, so nothing is dispatched if a line is wrong. Returns the exit code of the first task in the file that did not complete.
 */
export async function runBatch(invocation: Invocation<BatchOptions>, file: string): Promise<ExitCode | undefined> {
  const { options, output, stdin, signal, connect } = invocation;
  const { jobs = DEFAULT_JOBS, detach = false, dryRun = false } = options;
  const tasks = await readBatch(file, options, stdin);
  const connection = connect();
  // The follower would wait without end for a wrong address.
  await connection.client.getIdentity({ signal });
  await checkAll(tasks, { file, connection, output, jobs, signal });
  if (dryRun) {
    output.note(`${tasks.length} task(s) can be dispatched.`);
    return undefined;
  }
  const counts: Counts = { ended: 0, completed: 0, replayed: 0 };
  const codes: (ExitCode | undefined)[] = [];
  output.status.show(() => `${counts.ended} of ${tasks.length} task(s) ${detach ? "dispatched" : "ended"}`);
  try {
    await forEachParallel(tasks, jobs, async (task, index) => {
      codes[index] = await runTask(task, { connection, output, detach, counts, signal });
    });
  } catch (error) {
    if (!signal.aborted) throw error;
    output.warn("Dispatched tasks continue. To follow them, and to dispatch the others, repeat the command: nothing runs twice.");
    return exitCodes.interrupted;
  }
  output.status.clear();
  const replayed = counts.replayed === 0 ? "" : ` ${counts.replayed} of them existed before, and were not dispatched again.`;
  output.note(`${tasks.length} task(s)${detach ? " dispatched" : `, ${counts.completed} completed`}.${replayed}`);
  return codes.find((code) => code !== undefined && code !== exitCodes.done);
}

interface CheckOptions {
  file: string;
  connection: Connection;
  output: Output;
  jobs: number;
  signal: AbortSignal;
}

/** These faults of Bridge pass, and a dispatch is retried after them. */
const passing = new Set(["queue_full", "overloaded", "draining", "too_many_requests", "storage_unavailable"]);

/** Lets Bridge check every task. Throws an error that lists the faulty lines. */
async function checkAll(tasks: readonly BatchTask[], { file, connection, output, jobs, signal }: CheckOptions): Promise<void> {
  const faults: LineFault[] = [];
  let checked = 0;
  output.status.show(() => `checking: ${checked} of ${tasks.length} task(s)`);
  await forEachParallel(tasks, jobs, async ({ line, request }) => {
    const { problem } = await connection.follower.checkDispatch(request, { signal }).catch(toCheck);
    checked += 1;
    if (problem === null || passing.has(problem.code)) return;
    const errors = problem.errors?.length ? problem.errors : [{ path: "", message: problem.detail }];
    faults.push(...errors.map(({ path, message }) => ({ line, path, message })));
  });
  output.status.clear();
  rejectFaults(faults, file);
}

/** Bridge rejects JSON that it cannot keep before it checks the dispatch. */
function toCheck(error: unknown): { problem: { code: string; detail: string; errors: readonly FieldError[] } } {
  if (!(error instanceof BridgeClientError) || error.errors.length === 0) throw error;
  return { problem: { code: error.code, detail: error.message, errors: error.errors } };
}

interface RunOptions extends Pick<CheckOptions, "connection" | "output" | "signal"> {
  detach: boolean;
  counts: Counts;
}

async function runTask({ line, request }: BatchTask, { connection, output, detach, counts, signal }: RunOptions): Promise<ExitCode> {
  const { follower } = connection;
  try {
    const accepted = await follower.dispatch(request, { signal });
    if (accepted.replayed) counts.replayed += 1;
    if (detach) {
      counts.ended += 1;
      if (output.format === "json") output.printJson(accepted, "line");
      else output.print(accepted.taskId);
      return exitCodes.done;
    }
    const task = await follower.waitForTask(request.taskId, { signal });
    counts.ended += 1;
    if (task.state === "completed") counts.completed += 1;
    printTask(task, output);
    return exitCodeOfTask(task);
  } catch (error) {
    // With a wrong token, all other tasks would fail as well.
    if (!(error instanceof BridgeClientError) || error.status === 401 || error.status === 403) throw error;
    counts.ended += 1;
    output.warn([paint("red", `line ${line}:`), ` ${error.message}`]);
    return exitCodeOfError(error);
  }
}

/** Prints a task as one line. Lines come one after the other, so their columns cannot be aligned. */
function printTask(task: Task, output: Output): void {
  if (output.format === "json") {
    output.printJson(task, "line");
    return;
  }
  const isPipe = output.format === "pipe";
  const cells = taskColumns(output).map(({ value, shown, style }) => {
    const text = toOneLine(isPipe ? String(value(task) ?? "") : (shown?.(task) ?? String(value(task) ?? "-")));
    return paint(style?.(task) ?? null, text);
  });
  output.print(cells.flatMap((cell, index) => (index === 0 ? [cell] : [isPipe ? "\t" : "  ", cell])));
}

/** Calls the function for each entry, for at most `limit` entries at the same time. After a rejection, it starts no further one. */
async function forEachParallel<T>(entries: readonly T[], limit: number, act: (entry: T, index: number) => Promise<void>): Promise<void> {
  let next = 0;
  let hasFailed = false;
  const work = async (): Promise<void> => {
    while (next < entries.length && !hasFailed) {
      const index = next++;
      try {
        await act(entries[index] as T, index);
      } catch (error) {
        hasFailed = true;
        throw error;
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(limit, entries.length) }, work));
}
