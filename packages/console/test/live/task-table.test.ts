import { expect, test } from "vitest";
import type { FeedEvent } from "../../src/live/feed.ts";
import { createTaskTable, type Row } from "../../src/live/task-table.ts";

const row = (number: number, fields: Partial<Row> = {}): Row =>
  ({
    ...{ taskId: `t${number}`, state: "running", createdAt: `2026-11-23T00:00:0${number}.000Z`, waitingOn: null, callback: null },
    ...fields,
  }) as Row;
const event = (taskId: string, type: FeedEvent["type"], errorCode: string | null = null): FeedEvent => ({
  ...{ taskId, type, errorCode, agentId: "a", provider: "p", approvalId: null, timestamp: "2026-11-23T00:01:00.000Z" },
});
const states = (table: ReturnType<typeof createTaskTable>): string[] =>
  table.list(0, table.length).map(({ taskId, state }) => `${taskId} ${state}`);

test("a late snapshot never overwrites a newer event", () => {
  const table = createTaskTable();
  table.applyFirst(table.begin(), [row(2), row(1)], false);
  const mark = table.begin();
  table.patch([event("t1", "execution.completed")]);
  table.applyFirst(mark, [row(2), row(1)], false);
  expect(states(table)).toEqual(["t2 running", "t1 completed"]);
});

test("an event that is older than a snapshot changes nothing", () => {
  const table = createTaskTable();
  table.applyFirst(table.begin(), [row(1, { state: "failed" })], false);
  table.patch([event("t1", "execution.started"), event("t1", "execution.completed"), event("t1", "tool.approval_requested")]);
  expect(states(table)).toEqual(["t1 failed"]);
});

test("a canceled task is not a failed one", () => {
  const table = createTaskTable();
  table.applyFirst(table.begin(), [row(2), row(1)], false);
  table.patch([event("t1", "execution.failed", "cancelled"), event("t2", "execution.failed", "timeout")]);
  expect(states(table)).toEqual(["t2 failed", "t1 cancelled"]);
});

test("a snapshot of the first page adds new tasks, removes those that no longer match, and keeps older pages", () => {
  const table = createTaskTable();
  table.applyFirst(table.begin(), [row(4), row(3)], true);
  table.append(table.begin(), [row(2), row(1)]);
  table.applyFirst(table.begin(), [row(5), row(3)], true);
  expect(states(table).map((text) => text.slice(0, 2))).toEqual(["t5", "t3", "t2", "t1"]);
  table.applyFirst(table.begin(), [row(5)], false);
  expect(table.length).toBe(1);
});

test("events of unknown tasks are reported, so that the list is loaded again", () => {
  const table = createTaskTable();
  expect(table.patch([event("t9", "execution.started")])).toBe(true);
  table.applyFirst(table.begin(), [row(1)], false);
  expect(table.patch([event("t1", "tool.approval_requested")])).toBe(false);
  expect(table.list(0, 1)[0]?.waitingOn).toBe("approval");
});

test("a failed request does not keep events forever", () => {
  const table = createTaskTable();
  table.abandon(table.begin());
  table.applyFirst(table.begin(), [row(1)], false);
  table.patch([event("t1", "execution.completed")]);
  table.applyFirst(table.begin(), [row(1)], false);
  // The request began after the event, so its response is newer.
  expect(states(table)).toEqual(["t1 running"]);
});

test("child tasks are listed below their parent, once, and follow events", () => {
  const table = createTaskTable();
  table.applyFirst(table.begin(), [row(5), row(3), row(1)], false);
  table.showChildren(table.begin(), "t3", [row(7), row(5)]);
  table.showChildren(table.begin(), "t7", [row(8)]);
  expect(states(table)).toEqual(["t3 running", "t7 running", "t8 running", "t5 running", "t1 running"]);
  expect([0, 1, 2, 3, 4].map((index) => table.levelAt(index))).toEqual([0, 1, 2, 1, 0]);
  expect(table.patch([event("t7", "execution.completed")])).toBe(false);
  expect(states(table)[1]).toBe("t7 completed");

  table.applyFirst(table.begin(), [row(5), row(3), row(1)], false);
  expect(table.length).toBe(5);
  table.hideChildren("t3");
  expect(states(table)).toEqual(["t5 running", "t3 running", "t1 running"]);
});

test("the child tasks of a row that is no longer listed are not listed either", () => {
  const table = createTaskTable();
  table.applyFirst(table.begin(), [row(2), row(1)], false);
  table.showChildren(table.begin(), "t2", [row(3)]);
  table.applyFirst(table.begin(), [row(1)], false);
  expect(states(table)).toEqual(["t1 running"]);
  expect(table.opened).toEqual([]);
});
