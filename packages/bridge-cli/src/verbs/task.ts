import type { Task, TaskRequest } from "bridge-client";
import { describeChanges } from "../describe-changes.ts";
import { exitCodeOfTask } from "../exit-code-of.ts";
import type { ExitCode } from "../exit-codes.ts";
import { describeSource, formatCost, formatCount, formatDuration, formatLabels, formatRelative } from "../format.ts";
import type { Output } from "../output.ts";
import { type Field, printRecord } from "../record.ts";
import { describeState, durationMs } from "../task-columns.ts";
import { paint } from "../text.ts";
import type { Invocation, Run } from "../verb.ts";
import { collectLines, watch } from "../watch.ts";
import { withTaskId } from "../with-task-id.ts";

interface Options {
  watch?: boolean;
}

/** Prints one task with its request and its result; with `--watch`, again whenever it changes, until its end. */
export const run: Run<Options> = async (invocation) => {
  const { args, options, output, signal, connect } = invocation;
  const { client } = connect();
  const [task, { request }] = await withTaskId(args[0] ?? "", { client, signal }, (taskId) =>
    Promise.all([client.getTask(taskId, { signal }), client.getTaskRequest(taskId, { signal })]),
  );
  if (options.watch === true) return watchTask(invocation, task, request);
  printTask(output, task, request);
  return undefined;
};

function printTask(output: Output, task: Task, request: Request): void {
  printRecord(output, { ...task, request }, fieldsOf(task, request));
  if (output.format !== "terminal") return;
  const printBlock = (title: string, text: string | undefined): void => {
    if (text === undefined || text === "") return;
    output.print(["\n", paint("bold", title)]);
    output.print(text.trimEnd());
  };
  printBlock("Message", request.message);
  printBlock("Output", task.result?.output);
  printBlock("Error", task.result?.error);
}

/** Shows the task on a terminal, and prints each change as one line of JSON in a pipe. The exit code is that of the task. */
async function watchTask({ output, signal, connect }: Invocation<Options>, first: Task, request: Request): Promise<ExitCode> {
  const { follower } = connect();
  const { taskId } = first;
  let task = first;
  let printed = "";
  await watch(follower.events(taskId, { signal, onGap: () => {} }), signal, async () => {
    task = await follower.getTask(taskId, { signal });
    const text = JSON.stringify(task);
    if (output.format === "terminal") output.screen.show(collectLines(output, (to) => printTask(to, task, request)));
    else if (text !== printed) output.printJson(task, "line");
    printed = text;
    return task.state === "queued" || task.state === "running";
  });
  output.screen.close();
  if (output.format === "terminal") printTask(output, task, request);
  return exitCodeOfTask(task);
}

type Request = TaskRequest["request"];

/** Names the adapter of an attempt, and how it ended; nothing more if it succeeded. */
function describeAttempt({ provider, startedAt, errorCode }: Task["attempts"][number]): string {
  if (startedAt === null && errorCode === null) return `${provider} (skipped)`;
  return errorCode === null ? provider : `${provider} (${errorCode})`;
}

/** The fields of a task with a work tree of a repository. An earlier version of Bridge sends none. */
function repositoryFields({ repository }: Pick<Task, "repository">): Field[] {
  const { headCommit = null, commits, pushed, pushError, error } = repository ?? {};
  return [
    { name: "repository", value: repository?.name },
    { name: "branch", value: repository?.branch },
    { name: "base", value: repository?.baseCommit },
    { name: "head", value: headCommit },
    { name: "commits", value: commits },
    { name: "changes", value: repository == null || commits == null ? null : describeChanges(repository) },
    { name: "pushed", value: pushed === true ? "yes" : pushError },
    { name: "not stored", value: error },
  ];
}

function fieldsOf(task: Task, { profile, approvals }: Request): Field[] {
  const duration = durationMs(task);
  const time = (iso: string | null): Pick<Field, "value" | "shown"> => ({ value: iso, shown: `${iso} (${formatRelative(iso)})` });
  return [
    { name: "id", value: task.taskId },
    { name: "state", value: task.state, shown: describeState(task) },
    { name: "agent", value: task.agentId },
    { name: "provider", value: task.provider },
    { name: "model", value: task.model },
    { name: "profile", value: profile },
    { name: "approvals", value: approvals },
    { name: "parent", value: task.parentTaskId },
    { name: "node", value: task.node },
    { name: "labels", value: formatLabels(task.labels) },
    { name: "created", ...time(task.createdAt) },
    { name: "started", ...time(task.startedAt) },
    { name: "finished", ...time(task.finishedAt) },
    { name: "took", value: duration, shown: duration === null ? "" : formatDuration(duration) },
    { name: "input tokens", value: task.usage?.inputTokens, shown: formatCount(task.usage?.inputTokens) },
    { name: "output tokens", value: task.usage?.outputTokens, shown: formatCount(task.usage?.outputTokens) },
    { name: "cost", value: task.costUsd, shown: formatCost(task.costUsd) },
    { name: "cost source", value: task.costSource, shown: describeSource(task.costSource) },
    { name: "error", value: task.errorCode },
    { name: "resume", value: task.result?.resumeToken },
    { name: "callback", value: task.callback?.state },
    { name: "attempts", value: task.callback?.attempts },
    // An earlier version of Bridge sends no attempts.
    { name: "tried", value: (task.attempts ?? []).map(describeAttempt).join(", ") },
    ...repositoryFields(task),
  ];
}
