import { describe, expect, test } from "vitest";
import type { ExecutionResult } from "#contract";
import type { NewApproval } from "../../../src/store/approvals/interface.ts";
import type { CallbackSettlement } from "../../../src/store/posts/interface.ts";
import type { Store } from "../../../src/store/store.ts";
import type { Task } from "../../../src/task.ts";
import { claim, createOpen, newFinish, newTask, type StoreSubject, started } from "./fixtures.ts";

/** Checks texts with U+0000 in a storage engine. */
export function columnTextConformance(subject: StoreSubject): void {
  const open = createOpen(subject);

  describe(`store: ${subject.name}`, () => {
    describe("U+0000 in a text that is not JSON", () => {
      const approval: NewApproval = {
        ...{ approvalId: "apr", toolCallId: "call\0", toolName: "shell\0", shownInput: "{}", expiresInMs: 60_000 },
        event: () => ({ type: "tool.approval_requested", data: "{}" }),
      };
      const failWith = (result: Partial<ExecutionResult>) =>
        newFinish({ state: "failed", result: { status: "error", durationMs: 1, connection: "cli", ...result } });

      test.each<
        [name: string, write: (store: Store, task: Task) => Promise<unknown>, read: (store: Store, task: Task) => unknown, unknown]
      >([
        [
          "the id and name of a tool call",
          (store, task) => store.insertApprovalIfRunning(task, approval),
          async (store) =>
            (await store.listPendingApprovals("default", "call\0")).map(({ toolCallId, toolName }) => [toolCallId, toolName]),
          [["call\ufffd", "shell\ufffd"]],
        ],
        [
          "the reason of a decision",
          async (store, task) => {
            await store.insertApprovalIfRunning(task, approval);
            const decided = await store.decideApprovalIfPending("default", "apr", { decision: "reject", by: "user", reason: "no\0" });
            expect(decided).toEqual(await store.findApproval("default", "apr"));
          },
          async (store, { seq }) => JSON.parse((await store.readTaskEvents(seq, 0, 9, "execution")).at(-1)?.data ?? "").reason,
          "no\ufffd",
        ],
        [
          "the error of a task that ends while an approval waits",
          async (store, task) => {
            await store.insertApprovalIfRunning(task, approval);
            await store.finishTaskIfRunning(task, failWith({ error: "failed\0" }));
            expect((await store.findTask("default", "task-1"))?.result?.error).toBe("failed\0");
          },
          async (store) => (await store.findApproval("default", "apr"))?.reason,
          "failed\ufffd",
        ],
        [
          "the reason of a stop request",
          (store, task) => store.requestStopIfRunning(task, { code: "cancelled", reason: "stop\0" }),
          async (store) => (await store.listInterruptedTasks())[0]?.stop?.reason,
          "stop\ufffd",
        ],
        [
          "the error of a callback attempt",
          async (store, task) => {
            await store.finishTaskIfRunning(task, newFinish({}, "http://a.test/"));
            const settlement: CallbackSettlement = { state: "dead", nextInMs: null, lastStatus: null, lastError: "reset\0", event: null };
            await store.settleCallbackIfPending({ task, attempts: 0 }, settlement);
          },
          async (store, { seq }) => (await store.findCallback(seq))?.lastError,
          "reset\ufffd",
        ],
      ])("U+0000 in a text that is not JSON is replaced: %s", async (_, write, read, expected) => {
        const { store } = await open();
        const task = await started(store);
        await write(store, task);
        expect(await read(store, task)).toEqual(expected);
      });

      test("U+0000 in a text that is not JSON is replaced in a resume token, which still identifies its session", async () => {
        const { store } = await open();
        const request = { ...newTask().request, resumeToken: "session\0" };
        for (const taskId of ["one", "two"]) await store.insertTaskIfAbsent(newTask({ taskId, request }));
        await store.insertTaskIfAbsent(newTask({ taskId: "three", request: { ...request, resumeToken: "session\ufffd" } }));
        await store.insertTaskIfAbsent(newTask({ taskId: "four", request: { ...request, resumeToken: "session" } }));
        const first = (await claim(store)) as Task;
        expect([first.taskId, first.request.resumeToken]).toEqual(["one", "session\0"]);
        expect([(await claim(store))?.taskId, await claim(store)]).toEqual(["four", null]);
        await store.finishTaskIfRunning(first, failWith({ resumeToken: "session\0" }));
        const isKnown = (token: string) => store.isResumeTokenKnown({ tenant: "default", provider: "command", agentId: "agent", token });
        expect([await isKnown("session\0"), await isKnown("session\ufffd"), await isKnown("session")]).toEqual([true, true, false]);
        expect((await claim(store))?.taskId).toBe("two");
      });

      const page = { before: null, limit: 9 };
      test.each<[name: string, look: (store: Store) => Promise<unknown>, nothing: unknown]>([
        ["findTask", (store) => store.findTask("default", "task-1\0"), null],
        ["findStoredTask", (store) => store.findStoredTask("default", "\0"), null],
        ["findTaskProgress", (store) => store.findTaskProgress("default", "task-1\0"), null],
        ["resultBytes", (store) => store.resultBytes("default", "task-1\0"), 0],
        ["findFamily", (store) => store.findFamily("default", "task-1\0"), []],
        ["deleteTaskIfEnded", (store) => store.deleteTaskIfEnded("default", "task-1\0"), "absent"],
        ["listTasks by provider", (store) => store.listTasks({ tenant: "default", provider: "command\0" }, page), []],
        ["listTasks by agent", (store) => store.listTasks({ tenant: "default", agentId: "agent\0" }, page), []],
        ["listTasks by parent", (store) => store.listTasks({ tenant: "default", parentTaskId: "\0" }, page), []],
        ["listAgentsByName", (store) => store.listAgentsByName("default", { after: "agent\0", limit: 9 }), []],
        ["readEvents", async (store) => (await store.readEvents(0, { tenant: "default", taskId: "task-1\0" })).events, []],
        ["findApproval", (store) => store.findApproval("default", "apr\0"), null],
        [
          "decideApprovalIfPending",
          (store) => store.decideApprovalIfPending("default", "apr\0", { decision: "approve", by: "user", reason: null }),
          null,
        ],
        ["listPendingApprovals", (store) => store.listPendingApprovals("default", "call\0"), []],
        ["redeemTicket", (store) => store.redeemTicket("\0"), null],
      ])("U+0000 in a text that is not JSON finds nothing in a lookup: %s", async (_, look, nothing) => {
        const { store } = await open();
        await store.insertApprovalIfRunning(await started(store), { ...approval, toolCallId: "call" });
        expect(await look(store)).toEqual(nothing);
      });
    });
  });
}
