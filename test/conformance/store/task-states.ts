import fc from "fast-check";
import { expect, test } from "vitest";
import type { StoredEvent } from "../../../src/store/events/interface.ts";
import type { Store } from "../../../src/store/store.ts";
import { isFinal, legalMoves, type TaskState } from "../../../src/task.ts";
import { newFinish, newTask, type StoreSubject } from "./fixtures.ts";

interface ModelTask {
  state: TaskState;
  restarts: number;
  /** Whether a stop was requested while it ran. */
  stops: boolean;
  seq: number;
  /** Its pending approvals. */
  pending: Set<string>;
}
/** The expected state, computed by the test: the state of each task, and the number of events in the log. */
interface Model {
  tasks: Map<string, ModelTask>;
  events: number;
  /** Every approval that was requested. */
  approvals: string[];
}
interface Real {
  store: Store;
  reopen(): Promise<void>;
}
type Command = fc.AsyncCommand<Model, Real>;

const taskId = fc.constantFrom("a", "b", "c", "d");

/** The model makes only transitions in the table of permitted ones. Any other transition is a bug of this test. */
function move(task: ModelTask, to: TaskState): void {
  if (!legalMoves[task.state].includes(to)) throw new Error(`${task.state} -> ${to} is not legal`);
  task.state = to;
}

const command = (name: string, run: (model: Model, real: Real) => Promise<void>): Command => ({
  check: () => true,
  run,
  toString: () => name,
});

const accept = (id: string): Command =>
  command(`accept ${id}`, async (model, { store }) => {
    const { inserted, task } = await store.insertTaskIfAbsent(newTask({ taskId: id }));
    expect(inserted).toBe(!model.tasks.has(id));
    if (inserted) model.tasks.set(id, { state: "queued", restarts: 0, stops: false, seq: task.seq, pending: new Set() });
  });

const acceptAndStart = (id: string): Command =>
  command(`accept and start ${id}`, async (model, { store }) => {
    const { inserted, task } = await store.insertTaskIfAbsent(newTask({ taskId: id }), { starts: true });
    expect(inserted).toBe(!model.tasks.has(id));
    if (!inserted) return;
    model.tasks.set(id, { state: "running", restarts: 0, stops: false, seq: task.seq, pending: new Set() });
    model.events += 1;
  });

const claim = (): Command =>
  command("claim", async (model, { store }) => {
    const waiting = [...model.tasks].filter(([, task]) => task.state === "queued").sort(([, a], [, b]) => a.seq - b.seq);
    const claimed = await store.startNextTaskIfQueued({ provider: "command", tenant: "default", kind: "dispatched", exceptAgents: [] });
    expect(claimed?.taskId).toBe(waiting[0]?.[0]);
    if (waiting[0] !== undefined) {
      move(waiting[0][1], "running");
      model.events += 1;
    }
  });

const finish = (id: string, from: "queued" | "running", to: "completed" | "failed" | "cancelled"): Command =>
  command(`finish ${id} ${from} -> ${to}`, async (model, { store }) => {
    const task = model.tasks.get(id);
    if (from === "queued" && to === "completed") return;
    const end = newFinish({ state: to });
    const stored = await store.findTask("default", id);
    if (stored === null) return;
    const ended = from === "queued" ? await store.finishTaskIfQueued(stored, end) : await store.finishTaskIfRunning(stored, end);
    expect(ended?.state).toBe(task?.state === from ? to : undefined);
    if (task?.state !== from) return;
    move(task, to);
    // A task that never started publishes its start event with its terminal event.
    model.events += from === "queued" && task.restarts === 0 ? 2 : 1;
    closeApprovals(model, task);
  });

const requeue = (id: string): Command =>
  command(`requeue ${id}`, async (model, { store }) => {
    const task = model.tasks.get(id);
    const stored = await store.findTask("default", id);
    if (task === undefined || stored === null) return;
    const able = task.state === "running" && task.restarts === 0 && !task.stops;
    expect(await store.requeueTaskIfRunning(stored)).toBe(able);
    if (!able) return;
    move(task, "queued");
    task.restarts = 1;
    closeApprovals(model, task);
  });

const requestStop = (id: string): Command =>
  command(`request stop ${id}`, async (model, { store }) => {
    const task = model.tasks.get(id);
    const stored = await store.findTask("default", id);
    if (task === undefined || stored === null) return;
    expect(await store.requestStopIfRunning(stored, { code: "cancelled", reason: "" })).toBe(task.state === "running");
    if (task.state === "running") task.stops = true;
  });

const append = (id: string): Command =>
  command(`append ${id}`, async (model, { store }) => {
    const stored = await store.findTask("default", id);
    if (stored === null) return;
    const running = model.tasks.get(id)?.state === "running";
    expect(await store.appendEventsIfRunning(stored, [{ type: "assistant.text", data: "{}" }])).toBe(running);
    if (running) model.events += 1;
  });

const ask = (id: string): Command =>
  command(`ask ${id}`, async (model, { store }) => {
    const stored = await store.findTask("default", id);
    const task = model.tasks.get(id);
    if (stored === null || task === undefined) return;
    const approvalId = `apr-${model.approvals.length}`;
    const asked = await store.insertApprovalIfRunning(stored, {
      ...{ approvalId, toolCallId: "call", toolName: "shell", shownInput: "{}", expiresInMs: 60_000 },
      event: () => ({ type: "tool.approval_requested", data: "{}" }),
    });
    expect(asked !== null).toBe(task.state === "running");
    if (asked === null) return;
    model.approvals.push(approvalId);
    task.pending.add(approvalId);
    model.events += 1;
  });

const decide = (index: number, decision: "approve" | "reject"): Command =>
  command(`${decision} approval ${index}`, async (model, { store }) => {
    const approvalId = model.approvals[index] ?? "apr-unknown";
    const task = [...model.tasks.values()].find(({ pending }) => pending.has(approvalId));
    const decided = await store.decideApprovalIfPending("default", approvalId, { decision, by: "user", reason: null });
    expect(decided?.state).toBe(task === undefined ? undefined : decision === "approve" ? "approved" : "rejected");
    if (task?.pending.delete(approvalId) === true) model.events += 1;
  });

/** The pending approvals of a task are rejected when it ends, and the rejections are published. */
function closeApprovals(model: Model, task: ModelTask): void {
  model.events += task.pending.size;
  task.pending.clear();
}

const reopen = (): Command => command("reopen", (_model, real) => real.reopen());

const commands = fc.commands(
  [
    taskId.map(accept),
    taskId.map(acceptAndStart),
    fc.constant(claim()),
    fc
      .tuple(
        taskId,
        fc.constantFrom("queued" as const, "running" as const),
        fc.constantFrom("completed" as const, "failed" as const, "cancelled" as const),
      )
      .map((parts) => finish(...parts)),
    taskId.map(requeue),
    taskId.map(requestStop),
    taskId.map(append),
    taskId.map(ask),
    fc.tuple(fc.nat(5), fc.constantFrom("approve" as const, "reject" as const)).map((parts) => decide(...parts)),
    fc.constant(reopen()),
  ],
  { maxCommands: 40 },
);

/** Checks that a storage engine changes the states of tasks as a model of them does, for so many random sequences of commands. */
export function taskStateConformance(subject: StoreSubject, runs: number): void {
  test(`for any sequence of commands, the store changes the states of tasks only as the table allows: ${subject.name}`, async () => {
    await fc.assert(
      fc.asyncProperty(commands, async (sequence) => {
        const opened = await subject.open();
        const published: StoredEvent[] = [];
        const listen = (store: Store): Store => {
          store.onEvents((events) => published.push(...events));
          return store;
        };
        const real = {
          store: listen(opened.store),
          async reopen() {
            real.store = listen(await opened.reopen());
          },
        };
        const model: Model = { tasks: new Map(), events: 0, approvals: [] };
        try {
          await fc.asyncModelRun(() => ({ model, real }), sequence);
          for (const [id, { state, restarts, seq, pending }] of model.tasks) {
            expect(await real.store.findTask("default", id)).toMatchObject({ state, restarts });
            const types = (await real.store.readTaskEvents(seq, 0, 1000, "all")).map(({ type }) => type);
            const ends = types.filter((type) => type === "execution.completed" || type === "execution.failed");
            expect(ends).toHaveLength(isFinal(state) ? 1 : 0);
            expect(types.filter((type) => type === "execution.started")).toHaveLength(state === "queued" && restarts === 0 ? 0 : 1);
            if (isFinal(state)) expect(types.at(-1)).toBe(ends[0]);
            expect(await real.store.hasPendingApproval(seq)).toBe(pending.size > 0);
          }
          expect(published.map(({ number }) => number)).toEqual(Array.from({ length: model.events }, (_, index) => index + 1));
        } finally {
          await opened.close();
        }
      }),
      { numRuns: runs },
    );
  });
}
