import type { ApprovalQuestion } from "#contract";
import type { TaskTimeline } from "../agent-program/task-timeline.ts";
import type { AcpNotice, AcpProfile } from "./acp-profile.ts";
import { type AcpToolCall, readUpdate } from "./read-update.ts";

/** Turns what an agent tells of a session into the timeline of a task. */
export interface SessionRecorder {
  /** The next update, as it came. */
  take(update: unknown): void;
  /** The next notification that is not part of the protocol. */
  takeExtension(method: string, params: unknown): void;
  /** The agent asks before this call, which may be the first that is heard of it; answers the call as the timeline knows it. */
  ask(call: AcpToolCall): Omit<ApprovalQuestion, "taskId">;
  /** The kind of a call that is not done, as far as the agent has told; empty when it has not. */
  kindOf(toolCallId: string): string;
  /** The call was rejected; not every agent mentions it again. */
  reject(toolCallId: string, reason: string): void;
  /** The names of the tools that the agent has used. */
  readonly toolNames: ReadonlySet<string>;
  /** The last cost that the agent has told, in US dollars. */
  readonly costUsd: number | undefined;
  /** Why a call was rejected, the last time. */
  readonly rejection: string | undefined;
  /** What the agent says of a turn that has failed. */
  readonly failure: string | undefined;
  /** Tells of calls that the agent announced and forgot. */
  end(): void;
}

/** Starts telling one task's timeline. */
export function createSessionRecorder(
  timeline: TaskTimeline,
  profile: Pick<AcpProfile, "readNotice" | "readExtension" | "toolName" | "toolInput">,
): SessionRecorder {
  /** Calls that are not done, and whether the timeline knows them already. */
  const calls = new Map<string, { call: AcpToolCall; told: boolean }>();
  const toolNames = new Set<string>();
  let costUsd: number | undefined;
  let rejection: string | undefined;
  let failed = false;
  let reason = "The agent reports no reason.";
  let messageId: string | undefined;

  const merge = (given: AcpToolCall): AcpToolCall => {
    const known = calls.get(given.toolCallId);
    const call = mergeCalls(known?.call, given);
    calls.set(given.toolCallId, { call, told: known?.told ?? false });
    return call;
  };
  const invoke = (call: AcpToolCall): Omit<ApprovalQuestion, "taskId"> => {
    const { toolCallId } = call;
    const toolName = profile.toolName?.(call) ?? call.name ?? call.kind ?? "tool";
    const input = profile.toolInput?.(call) ?? inputOf(call);
    calls.set(toolCallId, { call, told: true });
    toolNames.add(toolName);
    timeline.startTool(toolCallId, toolName, input);
    return { toolCallId, toolName, input };
  };
  const complete = (toolCallId: string, output: unknown, isError: boolean): void => {
    timeline.finishTool(toolCallId, output, isError);
    calls.delete(toolCallId);
  };
  const tellHeldBack = (): void => {
    for (const { call, told } of calls.values()) if (!told) invoke(call);
  };
  const takeTool = (given: AcpToolCall): void => {
    const call = merge(given);
    const done = call.status === "completed" || call.status === "failed";
    // Pending, its input may still grow; what the timeline has told it cannot tell anew.
    if (call.status !== undefined && call.status !== null && call.status !== "pending") invoke(call);
    if (done) complete(call.toolCallId, outputOf(call), call.status === "failed");
  };

  const applyNotice = ({ text, failed: hasFailed, discarded, answer }: AcpNotice): void => {
    failed ||= hasFailed === true;
    reason = text ?? reason;
    if (discarded !== undefined) timeline.discardText(discarded);
    if (answer !== undefined) timeline.confirmLastPart(answer);
  };
  const say = (id: string | undefined, text: string): void => {
    // A message that another one follows was whole.
    if (id !== messageId) timeline.keepText();
    messageId = id;
    timeline.appendText(text);
  };

  return {
    take(given) {
      if (typeof given !== "object" || given === null) return;
      const notice = profile.readNotice?.(given as Record<string, unknown>) ?? null;
      if (notice !== null) return applyNotice(notice);
      const update = readUpdate(given);
      if (update === null) return;
      if (update.sessionUpdate === "tool_call" || update.sessionUpdate === "tool_call_update") return takeTool(update);
      // The agent has moved on: the inputs are complete.
      tellHeldBack();
      if (update.sessionUpdate === "agent_message_chunk") say(update.messageId ?? undefined, update.content.text);
      else if (update.sessionUpdate === "plan") timeline.reportProgress({ plan: update.entries });
      else if (update.cost?.currency === "USD") costUsd = update.cost.amount;
    },
    takeExtension(method, params) {
      const notice = profile.readExtension?.(method, params) ?? null;
      if (notice !== null) applyNotice(notice);
    },
    ask: (call) => invoke(merge(call)),
    kindOf: (toolCallId) => calls.get(toolCallId)?.call.kind ?? "",
    reject(toolCallId, reason) {
      rejection = reason;
      complete(toolCallId, reason, true);
    },
    toolNames,
    get costUsd() {
      return costUsd;
    },
    get rejection() {
      return rejection;
    },
    get failure() {
      return failed ? reason : undefined;
    },
    end: tellHeldBack,
  };
}

/** Later pieces count; a field that is left out stands as it was. Pieces of terminal output add up. */
function mergeCalls(known: AcpToolCall | undefined, given: AcpToolCall): AcpToolCall {
  const present = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== null && value !== undefined));
  const merged: AcpToolCall = { ...known, ...present, toolCallId: given.toolCallId };
  const terminal = terminalOutput(known) + terminalOutput(given);
  return {
    ...merged,
    _meta: { ...known?._meta, ...given._meta, ...(terminal === "" ? {} : { terminal_output_delta: { data: terminal } }) },
  };
}

function hasInput({ rawInput }: AcpToolCall): boolean {
  if (rawInput === undefined || rawInput === null) return false;
  return typeof rawInput !== "object" || Object.keys(rawInput).length > 0;
}

function inputOf(call: AcpToolCall): unknown {
  if (hasInput(call)) return call.rawInput;
  return call.title === undefined || call.title === null ? {} : { title: call.title };
}

/** The first that there is: the tool's own output, what the agent shows of it, what its terminal said; null when it shows nothing. */
function outputOf(call: AcpToolCall): unknown {
  if (call.rawOutput !== undefined && call.rawOutput !== null) return call.rawOutput;
  // A reference to a terminal shows nothing to whoever offers none.
  const shown = (call.content ?? []).filter(({ type }) => type !== "terminal");
  if (shown.length === 0) return call._meta?.["terminal_exit"] === undefined ? terminalOutput(call) || null : terminalOutput(call);
  const texts = shown.map(textOf);
  return texts.every((text) => text !== null) ? texts.join("\n") : shown;
}

function textOf({ type, content }: Record<string, unknown>): string | null {
  const text = type === "content" ? (content as { text?: unknown } | undefined)?.text : undefined;
  return typeof text === "string" ? text : null;
}

function terminalOutput(call: AcpToolCall | undefined): string {
  const data = (call?._meta?.["terminal_output_delta"] as { data?: unknown } | undefined)?.data;
  return typeof data === "string" ? data : "";
}
