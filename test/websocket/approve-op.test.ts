import { expect, test } from "vitest";
import { createApproveOp } from "../../src/websocket/approve-op.ts";
import { createInMemoryAdapter, type Run } from "../adapters/in-memory-adapter.ts";
import { caller, newDispatch, startEngine } from "../dispatch/engine.ts";

/** Asks for an approval, and returns the decision. */
const ask: Run = async ({ taskId }, emit, _signal, requestApproval) => {
  const call = { toolCallId: "call-1", toolName: "look", input: {} };
  emit("tool.invoked", call);
  return { output: (await requestApproval({ taskId, ...call })).decision };
};

test("of two clients that find a call pending, exactly one decides, and the other one gets already_decided", async () => {
  const { dispatcher, approvals, store } = await startEngine([createInMemoryAdapter({ run: ask })]);
  const { task } = await dispatcher.admitTask(newDispatch({ taskId: "t1", request: { approvals: "ask" } }), caller);
  await expect.poll(() => approvals.findPending("default", "call-1")).toHaveLength(1);

  const bothHaveRead = Promise.withResolvers<void>();
  let reads = 0;
  const op = createApproveOp({
    decide: approvals.decide,
    async findPending(tenant, toolCallId) {
      const pending = await approvals.findPending(tenant, toolCallId);
      if (++reads === 2) bothHaveRead.resolve();
      await bothHaveRead.promise;
      return pending;
    },
  });
  const meta = { tenant: "default", principal: { name: "operator" } };
  const answers = await Promise.allSettled(
    ["approve", "reject"].map((decision) =>
      op.execute({ op: "tool.approve", payload: { toolCallId: "call-1", decision, runId: "t1" }, meta } as never),
    ),
  );

  const codes = answers.map((answer) => (answer.status === "fulfilled" ? answer.value.status : answer.reason.code));
  expect(codes.toSorted()).toEqual([200, "already_decided"]);
  await dispatcher.waitForEnd(task, 60_000);
  expect(await store.findTask("default", "t1")).toMatchObject({
    state: "completed",
    result: { output: codes[0] === 200 ? "approve" : "reject" },
  });
});
