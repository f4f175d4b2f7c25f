import type { BridgeEvent } from "bridge-client";
import { expect, test } from "vitest";
import { UNREPORTED_END } from "../../../src/events/unreported-end.ts";
import { createTimeline } from "../src/timeline.ts";

/** Creates the timeline of these events, one per second. */
function timelineOf(...events: readonly [type: string, data: object][]) {
  const timeline = createTimeline();
  for (const [index, [type, data]] of events.entries()) {
    const timestamp = new Date(index * 1000).toISOString();
    timeline.add({ id: `e-${index + 1}`, type, taskId: "t", agentId: "a", provider: "p", timestamp, data } as unknown as BridgeEvent);
  }
  return timeline;
}

const text = (content: string): [string, object] => ["assistant.text", { content }];
const invoke = (toolCallId: string, input: unknown = {}): [string, object] => ["tool.invoked", { toolCallId, toolName: "read", input }];
const complete = (toolCallId: string, isError = false): [string, object] => [
  "tool.completed",
  { toolCallId, toolName: "read", output: "done", isError },
];

test("a turn begins when the model is called again: after all tool calls of the last turn have ended", () => {
  const { turns } = timelineOf(
    text("I "),
    text("look."),
    invoke("1"),
    invoke("2"),
    complete("2"),
    complete("1"),
    text("Now "),
    invoke("3"),
  );
  expect(turns.map(({ entries }) => entries.map((entry) => (entry.kind === "text" ? entry.text : entry.kind)))).toEqual([
    ["I look.", "tool", "tool"],
    ["Now ", "tool"],
  ]);
  expect(turns.map(({ number, startedAt }) => [number, startedAt])).toEqual([
    [1, "1970-01-01T00:00:00.000Z"],
    [2, "1970-01-01T00:00:06.000Z"],
  ]);
});

test("an event is found by its id, whichever entry it belongs to", () => {
  const events = [text("I "), text("look."), invoke("1"), complete("1"), ["execution.completed", {}]] as [string, object][];
  const findMarked = (id: string | null) => {
    const timeline = createTimeline(id);
    for (const [index, [type, data]] of events.entries())
      timeline.add({ id: `e-${index + 1}`, type, timestamp: "1970-01-01T00:00:00.000Z", data } as unknown as BridgeEvent);
    return timeline.marked;
  };
  expect(findMarked("e-2")).toMatchObject({ kind: "text", text: "I look." });
  expect(findMarked("e-4")).toMatchObject({ kind: "tool", toolCallId: "1", output: "done" });
  expect([findMarked("e-5"), findMarked("e-9"), findMarked(null)]).toEqual([null, null, null]);
});

test("a tool call is paired with its result by id, and an open call has none", () => {
  const { turns } = timelineOf(invoke("1", { path: "a" }), invoke("2"), complete("1", true));
  expect(turns[0]?.entries).toMatchObject([
    {
      toolCallId: "1",
      input: { path: "a" },
      invokedAt: "1970-01-01T00:00:00.000Z",
      completedAt: "1970-01-01T00:00:02.000Z",
      isError: true,
    },
    { toolCallId: "2", completedAt: null },
  ]);
});

test("a call that the end of its task cut off is no error", () => {
  const ended = { toolCallId: "1", toolName: "read", output: UNREPORTED_END, isError: true };
  const { turns } = timelineOf(invoke("1"), ["tool.completed", ended]);
  expect(turns[0]?.entries).toMatchObject([{ isCutOff: true, isError: false }]);
});

test("a text knows when the event before it happened, and an approval when it was requested and decided", () => {
  const approval = { approvalId: "ap", toolCallId: "1", toolName: "read", input: {}, expiresAt: null };
  const resolved = { approvalId: "ap", toolCallId: "1", decision: "approve", by: "anna", reason: null };
  const second = (count: number): string => `1970-01-01T00:00:0${count}.000Z`;
  const { turns } = timelineOf(
    text("a"),
    invoke("1"),
    ["tool.approval_requested", approval],
    ["tool.approval_resolved", resolved],
    complete("1"),
    text("b"),
  );
  expect(turns.flatMap(({ entries }) => entries)).toMatchObject([
    { kind: "text", since: null },
    { kind: "tool", approval: { requestedAt: second(2), resolvedAt: second(3) } },
    { kind: "text", since: second(4), at: second(5) },
  ]);
});

test("discarded text is marked back to the last tool event, and later text is separate", () => {
  const { turns } = timelineOf(text("kept"), invoke("1"), complete("1"), text("lost"), ["assistant.text_discarded", {}], text("new"));
  const texts = turns.flatMap(({ entries }) => entries).filter((entry) => entry.kind === "text");
  expect(texts.map(({ text, isDiscarded }) => [text, isDiscarded])).toEqual([
    ["kept", false],
    ["lost", true],
    ["new", false],
  ]);
});

test("an approval belongs to its call, also if it arrives before the call", () => {
  const request = { approvalId: "ap", toolCallId: "1", toolName: "delete", input: { path: "a" }, expiresAt: "2026-01-01T00:00:00Z" };
  const { turns } = timelineOf(["tool.approval_requested", request], invoke("1"), [
    "tool.approval_resolved",
    { approvalId: "ap", toolCallId: "1", decision: "reject", by: "anna", reason: "no" },
  ]);
  expect(turns[0]?.entries).toMatchObject([{ toolName: "delete", approval: { approvalId: "ap", decision: "reject", by: "anna" } }]);
  expect(turns[0]?.entries).toHaveLength(1);
});

test("a result without a call is shown, and cut data is marked", () => {
  const timeline = timelineOf(complete("1"), ["tool.invoked", { toolCallId: "2", toolName: "x", input: "…", truncated: true }]);
  expect(timeline.turns.flatMap(({ entries }) => entries)).toMatchObject([
    { toolCallId: "1", isTruncated: false },
    { toolCallId: "2", isTruncated: true },
  ]);
  expect([timeline.count, timeline.lastEventId]).toEqual([2, "e-2"]);
});
