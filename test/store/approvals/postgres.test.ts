import { describe, expect, test } from "vitest";
import type { NewApproval } from "../../../src/store/approvals/interface.ts";
import { MAX_PENDING_APPROVALS } from "../../../src/store/approvals/rows.ts";
import { newFinish } from "../../conformance/store/fixtures.ts";
import { accept, openWrites, typesOf } from "../../support/postgres/open-writes.ts";

const newApproval = (approvalId: string, fields: Partial<NewApproval> = {}): NewApproval => ({
  ...{ approvalId, toolCallId: "ca\0ll", toolName: "shell", shownInput: '{"input":{"a":1},"truncated":true}', expiresInMs: 60_000 },
  event: (expiresAt) => ({ type: "tool.approval_requested", data: JSON.stringify({ expiresAt }) }),
  ...fields,
});
const approve = { decision: "approve", by: "user", reason: "fi\0ne" } as const;
const reject = { decision: "reject", by: "bridge", reason: null } as const;

test("an approval is stored with its event, as a list returns it", async () => {
  const { database, store } = await openWrites();
  const task = await accept(store);
  const stored = await store.insertApprovalIfRunning(task, newApproval("apr-1"));
  expect(stored).toMatchObject({
    ...{ approvalId: "apr-1", toolCallId: "ca\ufffdll", toolName: "shell", input: { a: 1 }, inputTruncated: true, state: "pending" },
    ...{ task: { seq: task.seq, taskId: "task-1" }, decidedAt: null, decidedBy: null, reason: null },
  });
  expect(Number(stored?.expiresAt) - Number(stored?.createdAt)).toBe(60_000);
  expect(await typesOf(database, task)).toEqual(["execution.started", "tool.approval_requested"]);
});

test("a task has at most the allowed number of pending approvals, also when all are requested at once", async () => {
  const { database, store } = await openWrites();
  const [task, free] = [await accept(store), await accept(store, { taskId: "free" })];
  await store.insertApprovalIfRunning(task, newApproval("first"));
  const asked = await Promise.all(
    Array.from({ length: MAX_PENDING_APPROVALS + 5 }, (_, index) => store.insertApprovalIfRunning(task, newApproval(`apr-${index}`))),
  );
  expect(asked.filter((approval) => approval === null)).toHaveLength(6);
  expect(await typesOf(database, task)).toHaveLength(1 + MAX_PENDING_APPROVALS);
  expect(await store.insertApprovalIfRunning(free, newApproval("other"))).not.toBeNull();
  await store.decideApprovalIfPending("default", "first", approve);
  expect(await store.insertApprovalIfRunning(task, newApproval("again"))).not.toBeNull();
});

describe("a decision", () => {
  test.each([
    ["a pending approval", {}, { isOwn: false }, true],
    ["an expired approval", { expiresInMs: -1 }, { isOwn: false }, false],
    ["an expired approval, by Bridge itself", { expiresInMs: -1 }, { isOwn: true, patient: true }, true],
  ])("a decision about %s", async (_, fields, options, isStored) => {
    const { database, store } = await openWrites();
    const task = await accept(store);
    await store.insertApprovalIfRunning(task, newApproval("apr-1", fields));
    const decided = await store.decideApprovalIfPending("default", "apr-1", approve, options);
    expect(decided === null).toBe(!isStored);
    if (isStored)
      expect(decided).toMatchObject({ state: "approved", decidedBy: "user", reason: "fi\ufffdne", decidedAt: expect.any(Number) });
    expect((await typesOf(database, task)).slice(2)).toEqual(isStored ? ["tool.approval_resolved"] : []);
  });

  test("a decision about an unknown approval, or one of another tenant, changes nothing", async () => {
    const { store } = await openWrites();
    await store.insertApprovalIfRunning(await accept(store), newApproval("apr-1"));
    for (const [tenant, id] of [
      ["other", "apr-1"],
      ["default", "apr-2"],
      ["default", "apr\0"],
    ] as const)
      expect(await store.decideApprovalIfPending(tenant, id, approve)).toBeNull();
  });

  test("a decision is stored once, and the first one counts, in one batch and on two nodes", async () => {
    const { database, store, other } = await openWrites();
    const task = await accept(store);
    await store.insertApprovalIfRunning(task, newApproval("apr-1"));
    const decide = (node: typeof store, decision: typeof approve | typeof reject) =>
      node.decideApprovalIfPending("default", "apr-1", decision);
    const decided = await Promise.all([decide(store, reject), decide(store, approve), decide(other, approve)]);
    expect(decided.filter((approval) => approval !== null)).toHaveLength(1);
    expect(decided[1]).toBeNull();
    expect(await typesOf(database, task)).toEqual(["execution.started", "tool.approval_requested", "tool.approval_resolved"]);
  });

  test("a decision that waits while another transaction ends the task finds the approval rejected, so no event follows the end", async () => {
    const { database, store, other, hold } = await openWrites();
    const task = await accept(store);
    await store.insertApprovalIfRunning(task, newApproval("apr-1"));
    const held = await hold(`SELECT 1 FROM task WHERE seq = ${task.seq} FOR UPDATE`);
    const ended = other.finishTaskIfRunning(task, newFinish());
    await held.blocks();
    const decided = store.decideApprovalIfPending("default", "apr-1", approve);
    await expect
      .poll(() => database.query("SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"))
      .toHaveLength(2);
    await held.commit();
    expect(await ended).toMatchObject({ state: "completed" });
    expect(await decided).toBeNull();
    expect((await typesOf(database, task)).at(-1)).toBe("execution.completed");
  });
});
