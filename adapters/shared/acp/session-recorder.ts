import type { ApprovalQuestion } from "#contract";
import type { TaskTimeline } from "../agent-program/task-timeline.ts";
import type { AcpNotice, AcpProfile } from "./acp-profile.ts";
import { createCallRecorder } from "./call-recorder.ts";
import { createMessageText } from "./message-text.ts";
import { type AcpToolCall, readUpdate } from "./read-update.ts";

export type SessionRecorder = ReturnType<typeof createSessionRecorder>;

/** Creates a recorder that writes the updates of an agent's session to the timeline of its task. */
export function createSessionRecorder(
  timeline: TaskTimeline,
  profile: Pick<AcpProfile, "readNotice" | "readExtension" | "toolName" | "toolInput" | "answersInLastMessage">,
) {
  let costUsd: number | undefined;
  let rejection: string | undefined;
  let failed = false;
  let reason = "The agent reports no reason.";
  const messages = createMessageText(timeline, { lastOnly: profile.answersInLastMessage === true });

  const calls = createCallRecorder(timeline, profile, { onStart: messages.restart });

  const applyNotice = ({ text, failed: hasFailed, discarded, progress, complete, answer }: AcpNotice): void => {
    failed ||= hasFailed === true;
    reason = text ?? reason;
    if (discarded !== undefined) timeline.discardText(discarded);
    if (complete !== undefined) messages.complete(complete);
    if (progress !== undefined) timeline.reportProgress(progress);
    if (answer !== undefined) timeline.confirmLastPart(answer);
  };
  const appendMessage = (id: string | undefined, text: string): void => {
    // A text that the agent wrote itself is the reason of a failure.
    if (!messages.append(id, text)) reason = text;
  };

  return {
    recordUpdate(message: unknown): void {
      if (typeof message !== "object" || message === null) return;
      const notice = profile.readNotice?.(message as Record<string, unknown>) ?? null;
      if (notice !== null) {
        applyNotice(notice);
        return;
      }
      const update = readUpdate(message);
      if (update === null) return;
      if (update.sessionUpdate === "tool_call" || update.sessionUpdate === "tool_call_update") {
        calls.record(update);
        return;
      }
      // Any other update means that the inputs of the pending calls are complete.
      calls.startPending();
      if (update.sessionUpdate === "agent_message_chunk") appendMessage(update.messageId ?? undefined, update.content.text);
      else if (update.sessionUpdate === "plan") timeline.reportProgress({ plan: update.entries });
      else if (update.cost?.currency === "USD") costUsd = update.cost.amount;
    },
    /** Records a notification that is not part of the protocol. */
    recordExtension(method: string, params: unknown): void {
      const notice = profile.readExtension?.(method, params) ?? null;
      if (notice !== null) applyNotice(notice);
    },
    /** Records a call for which the agent requests permission. Returns the question for the approval. */
    recordQuestion: (call: AcpToolCall): Omit<ApprovalQuestion, "taskId"> => calls.start(call),
    /** The kind of an open call; empty if it is unknown. */
    kindOf: (toolCallId: string): string => calls.kindOf(toolCallId),
    /** Finishes a rejected call, because not every agent reports its end. */
    rejectCall(toolCallId: string, reason: string): void {
      rejection = reason;
      calls.finish(toolCallId, reason, true);
    },
    /** The names of all called tools. */
    toolNames: calls.toolNames,
    /** The last reported cost, in US dollars. */
    get costUsd(): number | undefined {
      return costUsd;
    },
    /** The reason of the last rejected call. */
    get rejection(): string | undefined {
      return rejection;
    },
    /** The agent's reason for a failed turn; undefined if the turn has not failed. */
    get failure(): string | undefined {
      return failed ? reason : undefined;
    },
    /** Starts the calls that are still pending. Called when no more updates follow. */
    flush: calls.startPending,
  };
}
