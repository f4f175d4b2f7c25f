import type { BridgeEvent, ListedTask } from "bridge-client";
import { expect, test } from "vitest";
import { createTimeline } from "../src/timeline.ts";
import {
  axisLength,
  axisTicks,
  describeGroup,
  describeInput,
  describeProgress,
  listRows,
  nameChild,
  type ProgressGroup,
  rowFilters,
  showsEntry,
  sortByDuration,
} from "../src/timeline-rows.ts";

const at = (second: number): string => new Date(second * 1000).toISOString();

function timelineOf(...events: readonly [type: string, second: number, data: object][]) {
  const timeline = createTimeline();
  for (const [type, second, data] of events)
    timeline.add({ id: `e-${second}`, type, timestamp: at(second), data } as unknown as BridgeEvent);
  return timeline;
}

const child = (taskId: string, startedAt: string | null, more: object = {}): ListedTask =>
  ({ taskId, title: null, agentId: "writer", provider: "claude", state: "completed", createdAt: at(1), startedAt, ...more }) as ListedTask;

test.each([
  [{ command: "npm test", description: "Run the tests" }, "npm test"],
  [{ description: "Run the tests", command: "npm test" }, "npm test"],
  [{ command: ["bash", "-lc", 'grep -rn "step 4" src'] }, 'bash -lc grep -rn "step 4" src'],
  [{ pattern: "TODO", path: "src" }, "TODO"],
  [{ file_path: "a.md", content: "x\ny" }, "a.md"],
  [{ reason: "only this" }, "only this"],
  [{ edits: [{ from: 1 }], path: "a.md" }, "a.md"],
  [{ edits: [{ from: 1 }] }, '{ "edits": [ { "from": 1 } ] }'],
  [{ count: 3 }, "3"],
  ["a text\nof two lines", "a text of two lines"],
  [{}, ""],
  [null, "null"],
])("the input %j is described as %j", (input, text) => expect(describeInput(input)).toBe(text));

test.each([
  [{ step: "compile", done: 2, of: 4 }, "compile, 2 of 4"],
  [{ step: "compile", files: 12 }, "step compile, files 12"],
  [
    { phase: "analysis", round: 1, role: "API Designer", domain: "api", done: 2, of: 4 },
    "Round 1, analysis: API Designer answered, 2 of 4",
  ],
  [{ phase: "finding", round: 1, id: "C001", severity: "HIGH", title: "No limit", domain: "api" }, "api: finding C001 HIGH: No limit"],
])("the progress %j is described as %j", (data, text) => expect(describeProgress(data)).toBe(text));

test("child tasks stand where they started, between the entries of the turns", () => {
  const { turns } = timelineOf(
    ["assistant.text", 10, { content: "First." }],
    ["tool.invoked", 20, { toolCallId: "1", toolName: "run", input: {} }],
    ["tool.completed", 40, { toolCallId: "1", toolName: "run", output: "", isError: true }],
    ["assistant.text", 50, { content: "Last." }],
  );
  const rows = listRows(turns, [child("late", at(60)), child("inside", at(30)), child("before", at(5))]);
  expect(rows.map(({ turn, entry }) => [turn?.number ?? null, entry.kind === "child" ? entry.task.taskId : entry.kind])).toEqual([
    [null, "before"],
    [1, "text"],
    [1, "tool"],
    [1, "inside"],
    [2, "text"],
    [2, "late"],
  ]);
  const count = (filter: keyof typeof rowFilters): number => rows.filter(({ entry }) => rowFilters[filter](entry)).length;
  expect([count("all"), count("errors"), count("tools"), count("text")]).toEqual([6, 1, 1, 2]);
});

test("a child task of a council is named by its role, any other by its title", () => {
  const council = { council: { role: "Challenger", domain: "security", round: 2 } };
  expect(nameChild(child("c", null, { metadata: council }))).toEqual({ name: "Challenger", detail: "claude · security · round 2" });
  expect(nameChild(child("c", null, { title: "Fix it." }))).toEqual({ name: "Fix it.", detail: "writer · claude" });
});

test("the axis of an ended task is its duration, that of a running one grows in steps", () => {
  expect(axisLength(4321, { isRunning: false })).toBe(4321);
  const lengths = [100, 1000, 1001, 1240, 1300].map((elapsed) => axisLength(elapsed, { isRunning: true }));
  expect(lengths).toEqual([1000, 1000, 1250, 1250, 1562.5]);
});

test.each([
  [592_000, [0, 120, 240, 360, 480]],
  [1000, [0, 0.2, 0.4, 0.6, 0.8]],
  [1, [0]],
  [30 * 86_400_000, [0, 86_400, 172_800, 259_200, 345_600, 432_000]],
])("an axis of %d ms has labels at most six round times", (length, seconds) => {
  expect(axisTicks(length).map((tick) => tick / 1000)).toEqual(seconds);
});

test("consecutive progress of a council is one line, which other progress and child tasks interrupt", () => {
  const answered = (role: string, done: number) => ({ phase: "analysis", round: 1, role, done, of: 2 });
  const timeline = timelineOf(
    ["execution.progress", 10, answered("API Designer", 1)],
    ["execution.progress", 11, { phase: "finding", round: 1, id: "C001", severity: "HIGH", title: "No limit", domain: "api" }],
    ["execution.progress", 12, answered("Challenger", 2)],
    ["execution.progress", 20, { phase: "challenge", round: 2, role: "Challenger", done: 1, of: 1 }],
    ["execution.progress", 30, { step: "compile" }],
    ["execution.progress", 31, { step: "link" }],
  );
  const rows = listRows(timeline.turns, [child("between", at(15))]);
  expect(rows.map(({ entry }) => (entry.kind === "group" ? entry.entries.length : entry.kind))).toEqual([
    3,
    "child",
    1,
    "progress",
    "progress",
  ]);
  const [first] = rows as { entry: ProgressGroup }[];
  expect(first && describeGroup(first.entry)).toBe("Round 1, analysis: 2 of 2 answered, 1 finding");
  const [, finding] = first?.entry.entries ?? [];
  expect(rows.findIndex((row) => finding !== undefined && showsEntry(row, finding))).toBe(0);
});

test("the longest calls and child tasks stand first, those that run until now, and texts are omitted", () => {
  const { turns } = timelineOf(
    ["assistant.text", 10, { content: "First." }],
    ["tool.invoked", 20, { toolCallId: "1", toolName: "short", input: {} }],
    ["tool.completed", 22, { toolCallId: "1", toolName: "short", output: "", isError: false }],
    ["tool.invoked", 30, { toolCallId: "2", toolName: "open", input: {} }],
  );
  const rows = listRows(turns, [child("ended", at(40), { finishedAt: at(45) }), child("queued", null)]);
  const names = (now: number | null) =>
    sortByDuration(rows, now).map(({ entry }) => (entry.kind === "tool" ? entry.toolName : entry.kind === "child" && entry.task.taskId));
  expect(names(60_000)).toEqual(["open", "ended", "short"]);
  expect(names(null)).toEqual(["ended", "short", "open"]);
});

test("a child task shows its cost and its tokens", () => {
  const spent = { title: "Fix it.", costUsd: 0.25, usage: { inputTokens: 12_000, outputTokens: 500 } };
  expect(nameChild(child("c", null, spent)).detail).toBe("writer · claude · $0.25 · 12.5 k tokens");
});
