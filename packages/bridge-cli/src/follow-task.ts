import type { BridgeEvent, Task } from "bridge-client";
import { createApprovalDesk, type Question } from "./approval-desk.ts";
import type { Connection } from "./connection.ts";
import { describeQuestion } from "./describe-question.ts";
import { formatDuration } from "./format.ts";
import type { Output } from "./output.ts";
import { toOneLine } from "./show-hidden.ts";

/** What following a task needs. */
export interface FollowOptions {
  connection: Connection;
  output: Output;
  stdin: NodeJS.ReadStream;
  signal: AbortSignal;
}

/** Follows a task until its end, with a status line and questions about approvals on a terminal. Returns the ended task. */
export async function followTask(taskId: string, { connection, output, stdin, signal }: FollowOptions): Promise<Task> {
  const { client, follower } = connection;
  const desk = output.isInteractive ? createApprovalDesk(client, output, stdin) : null;
  const progress = createProgress();
  output.status.show(() => `${taskId}  ${progress.describe()}`);
  try {
    // A gap does not matter, because only the current state is shown.
    for await (const event of follower.events(taskId, { signal, onGap: () => {} })) {
      progress.add(event);
      output.status.refresh();
      if (event.type === "tool.approval_requested") {
        if (desk !== null) desk.add({ taskId: event.taskId, ...event.data });
        else output.note(`Waiting for a decision on ${toOneLine(nameQuestion(event.data))}: brg approve ${event.data.approvalId}`);
      }
      if (event.type === "tool.approval_resolved") desk?.withdraw(event.data.approvalId, `${event.data.decision} by ${event.data.by}`);
    }
    return await follower.getTask(taskId, { signal });
  } finally {
    desk?.close();
    output.status.clear();
  }
}

const nameQuestion = (question: Omit<Question, "taskId">): string =>
  question.kind === "budget" ? `the budget, of which the task ${describeQuestion(question)}` : question.toolName;

/** Collects what the status line shows. */
function createProgress() {
  let startedAt: number | null = null;
  let action = "queued";
  let tools = 0;
  return {
    add(event: BridgeEvent): void {
      if (event.type === "execution.started") {
        startedAt = Date.parse(event.timestamp);
        action = "running";
      } else if (event.type === "tool.invoked") {
        tools += 1;
        action = toOneLine(event.data.toolName);
      } else if (event.type === "tool.completed") action = "running";
      else if (event.type === "assistant.text") action = "answering";
      else if (event.type === "tool.approval_requested") action = "waiting for a decision";
    },
    describe: (): string =>
      [
        action,
        startedAt === null ? null : formatDuration(Math.max(Date.now() - startedAt, 0)),
        tools === 0 ? null : `${tools} tool call(s)`,
      ]
        .filter((part) => part !== null)
        .join(" · "),
  };
}
