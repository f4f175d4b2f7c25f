import { describe, expect, test } from "vitest";
import type { NewApproval } from "../../../src/store/approvals/interface.ts";
import { createOpen, type StoreSubject, started } from "./fixtures.ts";

/** Checks how a storage engine keeps the kinds of approvals, and by how much they raise budgets. */
export function approvalConformance(subject: StoreSubject): void {
  const open = createOpen(subject);
  const newApproval = (approvalId: string, fields: Partial<NewApproval> = {}): NewApproval => ({
    ...{ approvalId, toolCallId: "call", toolName: "shell", shownInput: "{}", expiresInMs: null },
    event: () => ({ type: "tool.approval_requested", data: "{}" }),
    ...fields,
  });
  const approve = { decision: "approve", by: "user", reason: null } as const;
  const reject = { decision: "reject", by: "user", reason: null } as const;

  describe(`${subject.name}: the kinds of approvals`, () => {
    test("an approval is for a tool call unless it has another kind, and its decision has this kind", async () => {
      const { store, reopen } = await open();
      const task = await started(store);
      expect(await store.insertApprovalIfRunning(task, newApproval("a"))).toMatchObject({
        ...{ kind: "tool", raises: { micros: null, tokens: null } },
      });
      const raises = { micros: 500_000, tokens: null };
      await store.insertApprovalIfRunning(task, newApproval("b", { kind: "budget", raises }));
      await store.decideApprovalIfPending("default", "a", approve);
      await store.decideApprovalIfPending("default", "b", { ...approve, raiseMicros: 20_000 });
      const again = await reopen();
      expect(await again.findApproval("default", "b")).toMatchObject({ kind: "budget", raises: { micros: 20_000, tokens: null } });
      const events = await again.readTaskEvents(task.seq, 0, 10, "all");
      expect(events.slice(-2).map(({ data }) => JSON.parse(data))).toEqual([
        { approvalId: "a", kind: "tool", toolCallId: "call", decision: "approve", by: "user", reason: null },
        { approvalId: "b", kind: "budget", toolCallId: "call", decision: "approve", by: "user", reason: null, raiseByUsd: 0.02 },
      ]);
    });

    test("the raises of a task are the sum of its approved ones", async () => {
      const { store } = await open();
      const task = await started(store);
      const other = await started(store, { taskId: "other" });
      expect(await store.readRaises(task.seq)).toEqual({ micros: 0, tokens: 0 });
      const raises = { micros: 500_000, tokens: 100 };
      for (const id of ["a", "b", "c", "d"]) await store.insertApprovalIfRunning(task, newApproval(id, { kind: "budget", raises }));
      await store.insertApprovalIfRunning(other, newApproval("other", { kind: "budget", raises }));
      await store.decideApprovalIfPending("default", "a", approve);
      await store.decideApprovalIfPending("default", "b", { ...approve, raiseMicros: 250_000 });
      await store.decideApprovalIfPending("default", "c", reject);
      await store.decideApprovalIfPending("default", "other", approve);
      expect(await store.readRaises(task.seq)).toEqual({ micros: 750_000, tokens: 200 });
    });

    test("an interrupted task that is queued again keeps its raises, and its pending approval is rejected", async () => {
      const { store, reopen } = await open();
      const task = await started(store);
      const raises = { micros: 500_000, tokens: null };
      await store.insertApprovalIfRunning(task, newApproval("a", { kind: "budget", raises }));
      await store.decideApprovalIfPending("default", "a", approve);
      await store.insertApprovalIfRunning(task, newApproval("b", { kind: "budget", raises }));
      const again = await reopen();
      expect(await again.requeueTaskIfRunning(task)).toBe(true);
      expect(await again.findApproval("default", "b")).toMatchObject({ state: "rejected", decidedBy: "bridge" });
      expect(await again.readRaises(task.seq)).toEqual({ micros: 500_000, tokens: 0 });
    });
  });
}
