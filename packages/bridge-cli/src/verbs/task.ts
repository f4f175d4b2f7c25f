import type { Task, TaskRequest } from "bridge-client";
import { formatCost, formatCount, formatDuration, formatLabels, formatRelative } from "../format.ts";
import { nameTask } from "../name-task.ts";
import { type Field, printRecord } from "../record.ts";
import { showHidden } from "../show-hidden.ts";
import { describeState, durationMs } from "../task-columns.ts";
import type { Run } from "../verb.ts";

/** Prints one task with its request and its result. */
export const run: Run<object> = async ({ args: [taskId = ""], output, signal, connect }) => {
  const { client } = connect();
  const [task, { request }] = await nameTask(
    taskId,
    Promise.all([client.getTask(taskId, { signal }), client.getTaskRequest(taskId, { signal })]),
  );
  printRecord(output, { ...task, request }, fieldsOf(task, request));
  if (output.format !== "terminal") return undefined;
  printBlock("Message", request.message);
  printBlock("Output", task.result?.output);
  printBlock("Error", task.result?.error);
  return undefined;

  function printBlock(title: string, text: string | undefined): void {
    if (text === undefined || text === "") return;
    output.print(`\n${output.paint("bold", title)}`);
    output.print(showHidden(text.trimEnd()));
  }
};

function fieldsOf(task: Task, { profile, approvals }: TaskRequest["request"]): Field[] {
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
    { name: "error", value: task.errorCode },
    { name: "resume", value: task.result?.resumeToken },
    { name: "callback", value: task.callback?.state },
    { name: "attempts", value: task.callback?.attempts },
  ];
}
