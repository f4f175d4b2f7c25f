import {
  BridgeClientError,
  type DispatchCheck,
  type DispatchRequest,
  type FieldError,
  type RepositoryOutcome,
  type Task,
} from "bridge-client";
import { buildDispatch, optionOfField, type TaskOptions } from "../build-dispatch.ts";
import { CommandError } from "../command-error.ts";
import { createDetachment } from "../create-detachment.ts";
import { describeChanges } from "../describe-changes.ts";
import { exitCodeOfError, exitCodeOfTask } from "../exit-code-of.ts";
import { type ExitCode, exitCodes } from "../exit-codes.ts";
import { followTask } from "../follow-task.ts";
import { formatCost, formatDuration } from "../format.ts";
import type { Output } from "../output.ts";
import { readAll } from "../read-text.ts";
import { printRecord } from "../record.ts";
import { durationMs } from "../task-columns.ts";
import { paint } from "../text.ts";
import type { Invocation, Run } from "../verb.ts";

/** Options of a dispatch. */
export interface DispatchOptions extends TaskOptions {
  detach?: boolean;
  dryRun?: boolean;
  /** Maximum time to follow the task, in seconds. */
  wait?: number;
  /** File with one task per line, or `-` for stdin. */
  from?: string;
  jobs?: number;
}

/** Dispatches a task, follows it and prints its output. */
export const run: Run<DispatchOptions> = async (invocation) => {
  const { args, options, stdin } = invocation;
  const [text] = args;
  if (options.from !== undefined) {
    if (text !== undefined) throw new CommandError("usage", "With --from, the messages are in the file.", { hint: "Omit the message." });
    return (await import("../batch/run-batch.ts")).runBatch(invocation, options.from);
  }
  if (options.jobs !== undefined) throw new CommandError("usage", "--jobs needs --from.");
  if (text === undefined)
    throw new CommandError("usage", "The message is missing.", { hint: 'Give a text, or "-" to read it from stdin.' });
  return dispatchRequest(invocation, buildDispatch(options, text === "-" ? await readAll(stdin) : text));
};

/** Dispatches a request, and by default follows the task. */
export async function dispatchRequest(
  invocation: Invocation<DispatchOptions>,
  request: DispatchRequest & { taskId: string },
): Promise<ExitCode | undefined> {
  const { options, output, signal, connect } = invocation;
  const { client } = connect();
  if (options.dryRun === true) return printCheck(await client.checkDispatch(request, { signal }), output);
  const accepted = await dispatch(invocation, request);
  if (accepted.replayed) output.note(`The task ${request.taskId} existed before; nothing was dispatched.`);
  if (options.detach !== true) return follow(invocation, request.taskId);
  if (output.format === "json") output.printJson(accepted);
  else output.print(accepted.taskId);
  return undefined;
}

async function dispatch({ connect, signal, output }: Invocation<DispatchOptions>, request: DispatchRequest & { taskId: string }) {
  try {
    return await connect().client.dispatch(request, { signal });
  } catch (error) {
    if (!(error instanceof BridgeClientError)) throw error;
    if (error.code === "unreachable")
      output.note(`If Bridge has received the task, a repetition with --id ${request.taskId} does not run it twice.`);
    const { code, message, requestId, retryAfterMs } = error;
    const status = error.status === null ? {} : { status: error.status };
    throw new BridgeClientError(code, message, { ...status, errors: error.errors.map(nameOption), requestId, retryAfterMs, cause: error });
  }
}

/** Adds the name of the option to an error of a field of the API. */
function nameOption({ path, message }: FieldError): FieldError {
  const option = optionOfField[path] ?? optionOfField[path.split(".")[0] ?? ""];
  return { path: option === undefined ? path : `${option} (${path})`, message };
}

/** Why following ended before the task. */
type Stop = "detached" | "waitOver";

async function follow(invocation: Invocation<DispatchOptions>, taskId: string): Promise<ExitCode> {
  const { options, output, stdin, signal, connect, onInterrupt } = invocation;
  const connection = connect();
  const { client } = connection;
  const stopped = new AbortController();
  const stop = (reason: Stop): void => stopped.abort(reason);
  const detachment = createDetachment({
    announce: () => output.warn(`The task continues: brg wait ${taskId}\nPress Ctrl-C again to cancel it.`),
    cancel() {
      output.note("Canceling the task.");
      client.cancel(taskId).catch((error: Error) => output.warn(`The task was not canceled: ${error.message}`));
    },
    detach: () => stop("detached"),
  });
  const endInterrupts = onInterrupt(detachment.interrupt);
  const timer = options.wait === undefined ? undefined : setTimeout(() => stop("waitOver"), options.wait * 1000);
  try {
    const task = await followTask(taskId, { connection, output, stdin, signal: AbortSignal.any([signal, stopped.signal]) });
    return printResult(task, output);
  } catch (error) {
    if (!stopped.signal.aborted) throw error;
    return stopped.signal.reason === ("detached" satisfies Stop)
      ? exitCodes.interrupted
      : reportWaitOver(await client.getTask(taskId), output);
  } finally {
    clearTimeout(timer);
    detachment.close();
    endInterrupts();
  }
}

function reportWaitOver(task: Task, output: Output): ExitCode {
  if (output.format === "json") output.printJson(task);
  const isWaiting = task.waitingOn === "approval";
  output.note(`The wait is over. The task ${isWaiting ? "waits for an approval: brg approvals" : `continues: brg wait ${task.taskId}`}`);
  return exitCodes.waitOver;
}

/** Prints the output of an ended task to stdout, and how it ended to stderr. */
function printResult(task: Task, output: Output): ExitCode {
  const { result } = task;
  if (output.format === "json") output.printJson(task);
  else {
    const text = result?.output ?? (result?.outputs === undefined ? "" : JSON.stringify(result.outputs, null, 2));
    if (text !== "") output.print(text.replace(/\n$/, ""));
  }
  const duration = durationMs(task);
  const figures = [duration === null ? null : formatDuration(duration), task.costUsd === null ? null : formatCost(task.costUsd)];
  const summary = [describeEnd(task), ...figures.filter((figure) => figure !== null)].join(" · ");
  if (task.state === "completed") output.note(paint("green", summary));
  else output.warn([paint("red", summary), result?.error === undefined ? "" : `\n${result.error}`]);
  if (result?.repository !== undefined) reportRepository(task.taskId, result.repository, output);
  return exitCodeOfTask(task);
}

/** Reports what a task has changed in its work tree, and how to get it. */
function reportRepository(taskId: string, outcome: RepositoryOutcome, output: Output): void {
  const { branch, headCommit, commits, error, pushError } = outcome;
  const hint = headCommit === null ? "Nothing is kept." : `Apply them with: brg apply ${taskId}`;
  if (error !== undefined) output.warn(`The changes on the branch ${branch} are not stored completely: ${error}`);
  else if (commits > 0) output.note(`${branch}: ${commits} commit(s), ${describeChanges(outcome)}. ${hint}`);
  if (pushError !== undefined) output.warn(`The branch ${branch} was not pushed: ${pushError}`);
}

const describeEnd = ({ taskId, state, errorCode }: Task): string => `${taskId} ${state === "failed" ? `failed: ${errorCode}` : state}`;

function printCheck(check: DispatchCheck, output: Output): ExitCode {
  const { problem, task, wouldAnswer } = check;
  if (problem !== null && output.format !== "json")
    throw new BridgeClientError(problem.code, problem.detail, { status: wouldAnswer, errors: problem.errors?.map(nameOption) });
  printRecord(output, check, [
    { name: "provider", value: task?.provider },
    { name: "agent", value: task?.agentId },
    { name: "model", value: task?.resolved.model },
    { name: "profile", value: task?.resolved.profile },
    { name: "approvals", value: task?.resolved.approvals },
    { name: "timeout", value: task?.resolved.timeoutSeconds, shown: `${task?.resolved.timeoutSeconds} s` },
    { name: "connection", value: task?.connection },
    { name: "queue ahead", value: task?.queueAhead },
    { name: "replayed", value: String(task?.replayed) },
  ]);
  for (const warning of task?.warnings ?? []) output.warn(warning);
  return problem === null ? exitCodes.done : exitCodeOfError(new BridgeClientError(problem.code, problem.detail, { status: wouldAnswer }));
}
