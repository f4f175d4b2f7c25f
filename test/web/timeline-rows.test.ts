import type { BridgeEvent, ListedTask } from "bridge-client";
import { expect, test } from "vitest";
import { createTimeline } from "../../web/src/timeline.ts";
import { axisLength, describeInput, describeProgress, listRows, nameChild, rowFilters } from "../../web/src/timeline-rows.ts";

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
