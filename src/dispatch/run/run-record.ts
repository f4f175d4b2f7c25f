import { type AdapterEvent, type Conversation, createConversation, type ExecutionRequest, type ExecutionResult } from "#contract";
import type { EventLog } from "../../events/event-log.ts";
import { awaitsTools } from "../../results/output-strategy.ts";
import type { Task } from "../../task.ts";
import { answerOf } from "./final-result.ts";
import { createLastWarning } from "./last-warning.ts";
import { createOpenCalls } from "./open-calls.ts";

/** Creates the record of what a runtime reports: its events in the log, its conversation, its open tool calls and its last warning. */
export function createRunRecord(task: Task, eventLog: EventLog) {
  const openCalls = createOpenCalls(task.taskId);
  const lastWarning = createLastWarning();
  let conversation: Conversation | undefined;
  let hasCalledTool = false;
  let hasAnswered = false;
  /** Whether the log has text that no tool call and no discard has followed. */
  let hasText = false;

  function append(event: AdapterEvent): void {
    conversation?.add(event);
    eventLog.append(task, event);
  }

  return {
    hasOpenCall: openCalls.hasAny,
    /** Appends the last warning of the runtime to a text. */
    appendWarningTo: lastWarning.appendTo,
    beginConversation({ message }: Pick<ExecutionRequest, "message">): void {
      conversation = createConversation(message);
      hasAnswered = false;
    },
    /** Whether a runtime has called a tool. */
    hasCalledTool: (): boolean => hasCalledTool,
    /** Whether the model has answered or called a tool since the conversation has begun. */
    hasAnswered: (): boolean => hasAnswered,
    /** Withdraws the text of an attempt that another one follows. */
    discardText(reason: string): void {
      if (hasText) append({ type: "assistant.text_discarded", taskId: task.taskId, data: { reason } });
      hasText = false;
    },
    add(event: AdapterEvent): void {
      hasCalledTool ||= event.type === "tool.invoked";
      hasAnswered ||= event.type === "assistant.text" || event.type === "tool.invoked";
      if (event.type === "assistant.text") hasText = true;
      else if (event.type.startsWith("tool.") || event.type === "assistant.text_discarded") hasText = false;
      openCalls.add(event);
      lastWarning.add(event);
      append(event);
    },
    /** Ends every open call, except those of declared tools, which the caller executes after the task. */
    endOpenCalls(result: ExecutionResult, tools: ExecutionRequest["tools"]): void {
      const isAwaiting = result.status === "ok" && awaitsTools(result, tools);
      const waiting = (isAwaiting ? result.outputs?.["toolCalls"] : []) as { toolCallId: string }[];
      for (const event of openCalls.end((id) => waiting.some(({ toolCallId }) => toolCallId === id))) append(event);
    },
    /** Adds the conversation to a result without one. `reported` is what the runtime returned. */
    addConversation(result: ExecutionResult, reported: ExecutionResult): ExecutionResult {
      conversation?.addAnswer(answerOf(task, reported, result));
      const messages = result.conversationMessages ?? conversation?.messages();
      return messages === undefined ? result : { ...result, conversationMessages: messages };
    },
  };
}
