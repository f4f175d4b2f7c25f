import { setTimeout as delay } from "node:timers/promises";
import { describe, expect, test, vi } from "vitest";
import type { ApprovalAnswer } from "#contract";
import { type Approval, type Approvals, createApprovals } from "../../src/approvals/approvals.ts";
import { MAX_PENDING_APPROVALS } from "../../src/store/approvals/rows.ts";
import type { Store } from "../../src/store/store.ts";
import { createInMemoryAdapter, type Run } from "../adapters/in-memory-adapter.ts";
import { newFinish } from "../conformance/store/fixtures.ts";
import { caller, newDispatch, startEngine } from "../dispatch/engine.ts";
import { openSharedLog, startTask } from "../events/log-fixture.ts";
import { databaseOf } from "../support/database-subject.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";
import { until } from "../support/until.ts";

/** Requests an approval for each tool call that the message names, and returns the decisions. When it is killed, it stops waiting. */
function askingRuntime() {
  const answers: ApprovalAnswer[] = [];
  const run: Run = async ({ taskId, message }, emit, signal, requestApproval) => {
    const killed = new Promise<never>((_, reject) => signal.addEventListener("abort", () => reject(new Error("killed"))));
    emit("assistant.text", { content: "I want to look." });
    for (const toolCallId of message.split(" ")) {
      emit("tool.invoked", { toolCallId, toolName: "look", input: { at: "it" } });
      const asked = requestApproval({ taskId, toolCallId, toolName: "look", input: { at: "it" } });
      void asked.then((answer) => answers.push(answer));
      const answer = await Promise.race([asked, killed]);
      emit("tool.completed", { toolCallId, toolName: "look", output: answer.reason, isError: answer.decision === "reject" });
    }
    return { output: "done" };
  };
  return { answers, run };
}

async function open(options: Parameters<typeof startEngine>[1] = {}, run = askingRuntime()) {
  const engine = await startEngine([createInMemoryAdapter({ run: run.run })], options);
  const accept = async (taskId: string, message = "call-1", fields = {}) =>
    (await engine.dispatcher.admitTask(newDispatch({ taskId, request: { message, approvals: "ask", ...fields } }), caller)).task;
  const list = () => engine.approvals.list("default", { state: "pending" }, { order: "newest", after: null, limit: 50 });
  const pending = async (count = 1): Promise<Approval[]> => {
    expect(await until(async () => (await list()).length === count, 5_000)).toBe(true);
    return await list();
  };
  return { ...engine, ...run, accept, list, pending };
}

const yes = { decision: "approve", by: "operator", reason: "Looks fine." } as const;
const no = { decision: "reject", by: "operator", reason: "Not today." } as const;

describe("a pending approval", () => {
  test.each([
    [yes, "approved"],
    [no, "rejected"],
  ] as const)("a pending approval ends with the decision %o of a client", async (decision, state) => {
    const { accept, pending, approvals, answers, dispatcher, eventsOf } = await open();
    const task = await accept("t1");
    const [approval] = await pending();
    expect(approval?.inputTruncated).toBe(false);
    expect(approval).toMatchObject({ toolCallId: "call-1", toolName: "look", input: { at: "it" }, state: "pending", decidedBy: null });
    expect((approval?.expiresAt ?? 0) - (approval?.createdAt ?? 0)).toBe(60_000);
    const { approvalId } = approval as { approvalId: string };
    expect(await approvals.decide("default", approvalId, decision)).toMatchObject({
      state,
      decidedBy: "operator",
      reason: decision.reason,
    });
    await dispatcher.waitForEnd(task, 60_000);
    expect(answers).toEqual([{ decision: decision.decision, reason: decision.reason }]);
    const { approvalId: _, ...shared } = { approvalId, kind: "tool", toolCallId: "call-1" };
    expect(eventsOf("t1").map(({ type }) => type)).toEqual([
      ...["execution.started", "assistant.text", "tool.invoked", "tool.approval_requested", "tool.approval_resolved"],
      ...["tool.completed", "execution.completed"],
    ]);
    expect(eventsOf("t1")[3]?.data).toEqual({
      ...{ approvalId, ...shared, toolName: "look", input: { at: "it" } },
      expiresAt: new Date(approval?.expiresAt ?? 0).toISOString(),
    });
    expect(eventsOf("t1")[4]?.data).toEqual({ approvalId, ...shared, ...decision });
  });

  test("a pending approval is decided once: of concurrent decisions, one wins and the others are rejected", async () => {
    const { accept, pending, approvals, answers, dispatcher } = await open();
    const task = await accept("t1");
    const [approval] = await pending();
    const decisions = Array.from({ length: 20 }, (_, index) => ({ ...(index % 2 === 0 ? yes : no), by: `somebody-${index}` }));
    const outcomes = await Promise.allSettled(
      decisions.map((decision) => approvals.decide("default", approval?.approvalId ?? "", decision)),
    );
    const won = outcomes.flatMap((outcome) => (outcome.status === "fulfilled" ? [outcome.value] : []));
    expect(won).toHaveLength(1);
    for (const outcome of outcomes) if (outcome.status === "rejected") expect(outcome.reason).toMatchObject({ code: "already_decided" });
    await dispatcher.waitForEnd(task, 60_000);
    expect(answers).toEqual([{ decision: won[0]?.state === "approved" ? "approve" : "reject", reason: won[0]?.reason }]);
  });

  test("a pending approval is rejected when it expires, and a late decision is rejected", async () => {
    const { accept, approvals, answers, dispatcher, eventsOf, metrics } = await open({ approvalSeconds: 0.05 });
    await dispatcher.waitForEnd(await accept("t1"), 60_000);
    expect(answers).toEqual([{ decision: "reject", reason: "No decision was made within 0.05 s." }]);
    const [approval] = await approvals.list("default", { state: "rejected" }, { order: "newest", after: null, limit: 1 });
    expect(approval).toMatchObject({ decidedBy: "bridge", reason: "No decision was made within 0.05 s." });
    await expect(approvals.decide("default", approval?.approvalId ?? "", yes)).rejects.toMatchObject({
      code: "already_decided",
      message: "The approval was already rejected by bridge: No decision was made within 0.05 s.",
    });
    expect(eventsOf("t1").find(({ type }) => type === "tool.approval_resolved")?.data).toMatchObject({ decision: "reject", by: "bridge" });
    const counted = 'bridge_approvals_total{provider="memory",decision="unanswered"} 1';
    await vi.waitFor(async () => expect(await metrics.registry.metrics()).toContain(counted));
  });

  test("a pending approval expires by the time of day, which can advance while timers do not", async () => {
    const { accept, answers, dispatcher, pending } = await open({ approvalSeconds: 3600 });
    const task = await accept("t1");
    await pending();
    const now = Date.now;
    const clock = vi.spyOn(Date, "now").mockImplementation(() => now() + 3_600_000);
    try {
      await dispatcher.waitForEnd(task, 60_000);
    } finally {
      clock.mockRestore();
    }
    expect(answers).toEqual([{ decision: "reject", reason: "No decision was made within 3600 s." }]);
  });

  test("a pending approval that has expired is rejected by a decision, which names the rejection, if no process watches it", async () => {
    const { accept, approvals, list, pending, store } = await open({ approvalSeconds: 3600 });
    await accept("t1");
    const [asked] = await pending();
    const { approvalId } = asked as Approval;
    // The store refuses the decision, as it does after the deadline.
    vi.spyOn(store, "decideApprovalIfPending").mockResolvedValueOnce(null);
    await expect(approvals.decide("default", approvalId, yes)).rejects.toMatchObject({
      code: "already_decided",
      message: "The approval was already rejected by bridge: No decision was made within 3600 s.",
    });
    expect(await list()).toEqual([]);
  });

  test("a pending approval waits without a time limit if the limit is 0, and reports no expiry", async () => {
    const { accept, pending, approvals, answers, dispatcher, eventsOf, store } = await open({ approvalSeconds: 0 });
    const task = await accept("t1");
    const [approval] = await pending();
    expect(approval?.expiresAt).toBeNull();
    expect(eventsOf("t1").find(({ type }) => type === "tool.approval_requested")?.data).toMatchObject({ expiresAt: null });
    const { approvalId } = approval as Approval;
    expect(await store.findApproval("default", approvalId)).toMatchObject({ state: "pending", expiresAt: null });
    await approvals.decide("default", approvalId, yes);
    await dispatcher.waitForEnd(task, 60_000);
    expect(answers).toEqual([{ decision: "approve", reason: yes.reason }]);
  });

  test("a pending approval does not stop Bridge when the decision cannot be read for the log", async () => {
    const { accept, pending, approvals, answers, dispatcher, store } = await open();
    const task = await accept("t1");
    const [approval] = await pending();
    const read = vi.spyOn(store, "findApproval").mockRejectedValue(new Error("database disk image is malformed"));
    await approvals.decide("default", approval?.approvalId ?? "", yes);
    await dispatcher.waitForEnd(task, 60_000);
    // A rejection that is not handled fails the test run.
    expect(read).toHaveBeenCalledOnce();
    expect(answers).toEqual([{ decision: "approve", reason: yes.reason }]);
  });

  test("a pending approval is rejected before the end event of its canceled task", async () => {
    const { accept, pending, approvals, answers, dispatcher, eventsOf } = await open();
    const task = await accept("t1");
    const [approval] = await pending();
    await dispatcher.cancel("default", "t1");
    await dispatcher.waitForEnd(task, 60_000);
    expect(answers).toEqual([{ decision: "reject", reason: "The task was canceled." }]);
    const last = eventsOf("t1").slice(-3);
    expect(last.at(-1)).toMatchObject({ type: "execution.failed", data: { errorCode: "cancelled" } });
    // The end of the call and that of its approval are stored independently of each other.
    expect(last.slice(0, 2).toSorted((one, other) => one.type.localeCompare(other.type))).toMatchObject([
      { type: "tool.approval_resolved", data: { decision: "reject", by: "bridge", reason: "The task was canceled." } },
      { type: "tool.completed", data: { isError: true } },
    ]);
    await expect(approvals.decide("default", approval?.approvalId ?? "", yes)).rejects.toMatchObject({ code: "already_decided" });
  });

  test("a pending approval is rejected when a crash of Bridge has interrupted its task", async () => {
    const dataDir = await temporaryDirectory();
    const before = await open({ dataDir });
    await before.accept("t1");
    await before.accept("t2", "call-2", { onInterrupt: "retry" });
    await before.pending(2);
    await before.stop();
    const after = await open({ dataDir });
    const found = await after.approvals.list("default", {}, { order: "newest", after: null, limit: 10 });
    expect(
      found.filter(({ state }) => state === "rejected").map(({ task, decidedBy, reason }) => [task.taskId, decidedBy, reason]),
    ).toEqual([
      ["t2", "bridge", "Bridge was stopped while the approval waited; the task starts again."],
      ["t1", "bridge", "Bridge was restarted while the task ran."],
    ]);
    const counted = 'bridge_approvals_total{provider="memory",decision="unanswered"} 2';
    await vi.waitFor(async () => expect(await after.metrics.registry.metrics()).toContain(counted));
    // The task that runs again requests its approval again.
    await after.pending(1);
  });

  test("a pending approval is rejected when its task ends by itself, and does not delay the end", async () => {
    const asked = Promise.withResolvers<void>();
    const run: Run = async ({ taskId }, _emit, _signal, requestApproval) => {
      void requestApproval({ taskId, toolCallId: "call-1", toolName: "look", input: {} });
      await asked.promise;
      return { output: "did not wait" };
    };
    const { accept, approvals, dispatcher, pending } = await open({}, { run, answers: [] });
    const task = await accept("t1");
    await pending();
    asked.resolve();
    expect(await dispatcher.waitForEnd(task, 60_000)).toMatchObject({ state: "completed" });
    const reason = async () =>
      (await approvals.list("default", { state: "rejected" }, { order: "newest", after: null, limit: 1 }))[0]?.reason;
    expect(await until(async () => (await reason()) === "The task has ended.", 5_000)).toBe(true);
  });

  test.each([
    ["an unknown task", "nobody", "call-1"],
    ["a name that is no name", "t1", "x".repeat(5_000)],
  ])("a pending approval cannot be requested for %s", async (_, taskId, toolCallId) => {
    const answers: ApprovalAnswer[] = [];
    const run: Run = async (_request, _emit, _signal, requestApproval) => {
      answers.push(await requestApproval({ taskId, toolCallId, toolName: "look", input: {} }));
      return { output: "" };
    };
    const { accept, dispatcher } = await open({}, { run, answers });
    await dispatcher.waitForEnd(await accept("t1"), 60_000);
    expect(answers).toEqual([{ decision: "reject", reason: expect.stringMatching(/ended/) }]);
  });

  test("a pending approval marks an input that is too long as truncated", async () => {
    const run: Run = async ({ taskId }, _emit, _signal, requestApproval) => {
      const input = { command: `${"echo ".repeat(100_000)}; rm -rf /` };
      return { output: (await requestApproval({ taskId, toolCallId: "call-1", toolName: "shell", input })).decision };
    };
    const { accept, pending, approvals } = await open({}, { run, answers: [] });
    await accept("t1");
    const [approval] = await pending();
    await approvals.decide("default", approval?.approvalId ?? "", no);
    expect(approval).toMatchObject({ inputTruncated: true, input: { command: expect.stringMatching(/^echo /) } });
  });

  test("a pending approval counts toward a limit per task; requests beyond it are rejected", async () => {
    const answers: ApprovalAnswer[] = [];
    const run: Run = async ({ taskId }, _emit, _signal, requestApproval) => {
      const questions = Array.from({ length: MAX_PENDING_APPROVALS + 5 }, (_, index) => ({ taskId, toolCallId: `call-${index}` }));
      const asked = questions.map((question) => requestApproval({ ...question, toolName: "look", input: {} }));
      for (const question of asked) void question.then((answer) => answers.push(answer));
      await Promise.all(asked.slice(MAX_PENDING_APPROVALS));
      return { output: "" };
    };
    const { accept, dispatcher } = await open({}, { run, answers });
    await dispatcher.waitForEnd(await accept("t1"), 60_000);
    expect(answers.slice(0, 5)).toEqual(Array(5).fill({ decision: "reject", reason: expect.stringContaining("too many") }));
    expect(await until(async () => answers.length === MAX_PENDING_APPROVALS + 5, 5_000)).toBe(true);
    expect(answers.at(-1)).toEqual({ decision: "reject", reason: "The task has ended." });
  });

  test("a pending approval is found by its tool call id within its tenant, also if several tasks use the same id", async () => {
    const { accept, pending, approvals } = await open();
    await accept("t1");
    await accept("t2");
    await pending(2);
    expect((await approvals.findPending("default", "call-1")).map(({ task }) => task.taskId)).toEqual(["t1", "t2"]);
    expect(await approvals.findPending("default", "call-2")).toEqual([]);
    expect(await approvals.findPending("another", "call-1")).toEqual([]);
    const [approval] = await approvals.list("default", {}, { order: "newest", after: null, limit: 1 });
    await expect(approvals.decide("another", approval?.approvalId ?? "", yes)).rejects.toMatchObject({ code: "not_found" });
    expect(await approvals.list("another", {}, { order: "newest", after: null, limit: 10 })).toEqual([]);
  });
});

describe("an approval that another process decides", () => {
  const question = { taskId: "t", toolCallId: "call-1", toolName: "look", input: {} };

  async function openProcesses() {
    const { here, there } = await openSharedLog();
    const task = await startTask(here.store);
    const [asking, deciding] = [here, there].map((process) => createApprovals({ ...process, seconds: 60 })) as [Approvals, Approvals];
    deciding.adopt(await startTask(there.store));
    const find = async () => (await deciding.list("default", {}, { order: "newest", after: null, limit: 1 }))[0];
    /** The states of the approvals that a process has logged, and its metric. */
    const readAudit = async ({ lines, metrics }: typeof here) => [
      lines.flatMap(({ msg, state }) => (msg === "approval decided" ? [state] : [])),
      (await metrics.approvals.get()).values.map(({ labels, value }) => [labels.decision, value]),
    ];
    return { here, there, task, asking, deciding, find, readAudit };
  }

  test.each([
    [yes, "approved"],
    [no, "rejected"],
  ] as const)(
    "an approval that another process decides reaches its tool call through the log, and only the process that asked logs and counts it (%o)",
    async (decision, state) => {
      const { here, there, task, asking, deciding, find, readAudit } = await openProcesses();
      const answer = asking.ask(task, question, new AbortController().signal);
      expect(await until(async () => (await find()) !== undefined, 5_000)).toBe(true);
      await deciding.decide("default", (await find())?.approvalId ?? "", decision);
      expect(await answer).toEqual({ decision: decision.decision, reason: decision.reason });
      await vi.waitFor(async () => expect(await readAudit(here)).toEqual([[state], [[state, 1]]]));
      expect(await readAudit(there)).toEqual([[], []]);
    },
  );

  test("an approval that another process decides is logged with the trace of its task, also if the decision ends with the task", async () => {
    const { here, asking } = await openProcesses();
    const traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    const task = await startTask(here.store, { traceparent });
    const answer = asking.ask(task, question, new AbortController().signal);
    await vi.waitFor(() => expect(asking.describeWaiting().count).toBe(1));
    await here.store.finishTaskIfRunning(task, newFinish());
    await answer;
    await vi.waitFor(() =>
      expect(here.lines.find(({ msg }) => msg === "approval decided")).toMatchObject({
        taskId: task.taskId,
        trace_id: "0af7651916cd43dd8448eb211c80319c",
        span_id: "b7ad6b7169203331",
      }),
    );
  });

  test("an approval that another process decides is not missed if it is decided before its request returns", async () => {
    const { here, there, task } = await openProcesses();
    const insertApprovalIfRunning: Store["insertApprovalIfRunning"] = async (asked, approval) => {
      const inserted = await here.store.insertApprovalIfRunning(asked, approval);
      await there.store.decideApprovalIfPending("default", approval.approvalId, no);
      return inserted;
    };
    const asking = createApprovals({ ...here, store: { ...here.store, insertApprovalIfRunning }, seconds: 60 });
    expect(await asking.ask(task, question, new AbortController().signal)).toEqual({ decision: "reject", reason: no.reason });
  });

  test("an approval that another process decides is rejected when another process ends the task", async () => {
    const { here, there, task, asking, find, readAudit } = await openProcesses();
    const answer = asking.ask(task, question, new AbortController().signal);
    expect(await until(async () => (await find()) !== undefined, 5_000)).toBe(true);
    await there.store.finishTaskIfRunning(task, newFinish());
    expect(await answer).toEqual({ decision: "reject", reason: "The task has ended." });
    await vi.waitFor(async () => expect(await readAudit(here)).toEqual([["rejected"], [["unanswered", 1]]]));
    expect(await readAudit(there)).toEqual([[], []]);
  });
});

describe("while the disk accepts no writes", () => {
  test("a requested approval is rejected immediately, and the task continues", async () => {
    const begin = Promise.withResolvers<void>();
    const runtime = askingRuntime();
    const run: Run = async (...args) => {
      await begin.promise;
      return runtime.run(...args);
    };
    const { accept, answers, dispatcher, dataDir, eventsOf, store } = await open({}, { ...runtime, run });
    const task = await accept("t1");
    expect(await until(async () => (await store.findTask("default", "t1"))?.state === "running", 5_000)).toBe(true);
    const resumeWrites = await (await databaseOf(dataDir)).stopWrites();
    begin.resolve();
    expect(await until(async () => answers.length === 1, 5_000)).toBe(true);
    expect(answers).toEqual([{ decision: "reject", reason: expect.stringContaining("cannot be stored") }]);
    await resumeWrites();
    // A read can meet a connection that the database has just ended.
    const ended = await vi.waitFor(() => dispatcher.waitForEnd(task, 60_000), { timeout: 60_000 });
    expect(ended).toMatchObject({ state: "completed" });
    expect(eventsOf("t1").map(({ type }) => type)).not.toContain("tool.approval_requested");
  });

  test("an expired approval is rejected for the runtime immediately, and stored when the disk takes writes again", async () => {
    const end = Promise.withResolvers<void>();
    const runtime = askingRuntime();
    const run: Run = async (...args) => {
      const result = await runtime.run(...args);
      await end.promise;
      return result;
    };
    const { accept, answers, approvals, list, pending, dataDir, store } = await open({ approvalSeconds: 0.5 }, { ...runtime, run });
    await accept("t1");
    await pending();
    const resumeWrites = await (await databaseOf(dataDir)).stopWrites();
    const reason = "No decision was made within 0.5 s.";
    expect(await until(async () => answers.length === 1, 5_000)).toBe(true);
    expect(answers).toEqual([{ decision: "reject", reason }]);
    await expect(store.checkWritable()).rejects.toMatchObject({ code: "storage_unavailable" });
    await resumeWrites();
    // The task still runs, so it must not be listed as waiting. A read can meet a connection that the database has just ended.
    await vi.waitFor(async () => expect(await list()).toEqual([]), { timeout: 10_000 });
    expect(await approvals.list("default", { state: "rejected" }, { order: "newest", after: null, limit: 1 })).toMatchObject([
      { decidedBy: "bridge", reason },
    ]);
    end.resolve();
  });
});

test("the clocks of a task are paused while it waits for a decision", async () => {
  const { accept, pending, approvals, dispatcher } = await open({ idleSeconds: 0.15 });
  const task = await accept("t1", "call-1", { timeoutSeconds: 0.3 });
  const [approval] = await pending();
  // Longer than both limits.
  await delay(500);
  await approvals.decide("default", approval?.approvalId ?? "", yes);
  expect(await dispatcher.waitForEnd(task, 60_000)).toMatchObject({ state: "completed" });
});

test("approvals are pruned with their task", async () => {
  const { accept, pending, approvals, dispatcher, store } = await open();
  const task = await accept("t1");
  const [approval] = await pending();
  await approvals.decide("default", approval?.approvalId ?? "", yes);
  await dispatcher.waitForEnd(task, 60_000);
  for (let pruned = 1; pruned > 0; ) pruned = await store.prune(-1_000, 100);
  expect(await store.findTask("default", "t1")).toBeNull();
  expect(await approvals.list("default", {}, { order: "newest", after: null, limit: 10 })).toEqual([]);
});
