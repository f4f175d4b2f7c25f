import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import { openStore } from "../../src/store/open-store.ts";
import type { Store, StoredEvent } from "../../src/store/store.ts";
import { isFinal, legalMoves, type TaskState } from "../../src/task.ts";
import { newFinish, newTask } from "../conformance/store.ts";

interface ModelTask {
  state: TaskState;
  restarts: number;
  seq: number;
}
/** What should be true, kept by hand: each task's state, and how many events the log holds. */
interface Model {
  tasks: Map<string, ModelTask>;
  events: number;
}
interface Real {
  store: Store;
  reopen(): Promise<void>;
}
type Command = fc.AsyncCommand<Model, Real>;

const taskId = fc.constantFrom("a", "b", "c", "d");

/** The model moves only along the table of legal moves; a step that is not in it is a bug of this test. */
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
    if (inserted) model.tasks.set(id, { state: "queued", restarts: 0, seq: task.seq });
  });

const claim = (): Command =>
  command("claim", async (model, { store }) => {
    const waiting = [...model.tasks].filter(([, task]) => task.state === "queued").sort(([, a], [, b]) => a.seq - b.seq);
    const claimed = await store.startNextTaskIfQueued("command", { childrenOnly: false });
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
    // A task that never started tells its start with its end.
    model.events += from === "queued" && task.restarts === 0 ? 2 : 1;
  });

const requeue = (id: string): Command =>
  command(`requeue ${id}`, async (model, { store }) => {
    const task = model.tasks.get(id);
    const able = task?.state === "running" && task.restarts === 0;
    expect(await store.requeueTaskIfRunning(task?.seq ?? 4711)).toBe(able);
    if (task === undefined || !able) return;
    move(task, "queued");
    task.restarts = 1;
  });

const append = (id: string): Command =>
  command(`append ${id}`, async (model, { store }) => {
    const stored = await store.findTask("default", id);
    if (stored === null) return;
    const running = model.tasks.get(id)?.state === "running";
    expect(await store.appendEventsIfRunning(stored, [{ type: "assistant.text", data: "{}" }])).toBe(running);
    if (running) model.events += 1;
  });

const reopen = (): Command => command("reopen", (_model, real) => real.reopen());

const commands = fc.commands(
  [
    taskId.map(accept),
    fc.constant(claim()),
    fc
      .tuple(
        taskId,
        fc.constantFrom("queued" as const, "running" as const),
        fc.constantFrom("completed" as const, "failed" as const, "cancelled" as const),
      )
      .map((parts) => finish(...parts)),
    taskId.map(requeue),
    taskId.map(append),
    fc.constant(reopen()),
  ],
  { maxCommands: 40 },
);

test("whatever is asked of it in whatever order, the store moves tasks only as the table says", async () => {
  await fc.assert(
    fc.asyncProperty(commands, async (sequence) => {
      const directory = mkdtempSync(path.join(tmpdir(), "bridge-model-"));
      const file = path.join(directory, "bridge.db");
      const published: StoredEvent[] = [];
      const open = () => {
        const store = openStore({ file });
        store.onEvents((events) => published.push(...events));
        return store;
      };
      const real = {
        store: open(),
        async reopen() {
          await real.store.close();
          real.store = open();
        },
      };
      const model: Model = { tasks: new Map(), events: 0 };
      try {
        await fc.asyncModelRun(() => ({ model, real }), sequence);
        for (const [id, { state, restarts, seq }] of model.tasks) {
          expect(await real.store.findTask("default", id)).toMatchObject({ state, restarts });
          const story = (await real.store.readTaskEvents(seq, 0, 1000, { callbacks: true })).map(({ type }) => type);
          const ends = story.filter((type) => type === "execution.completed" || type === "execution.failed");
          expect(ends).toHaveLength(isFinal(state) ? 1 : 0);
          expect(story.filter((type) => type === "execution.started")).toHaveLength(state === "queued" && restarts === 0 ? 0 : 1);
          if (isFinal(state)) expect(story.at(-1)).toBe(ends[0]);
        }
        expect(published.map(({ number }) => number)).toEqual(Array.from({ length: model.events }, (_, index) => index + 1));
      } finally {
        await real.store.close();
        rmSync(directory, { recursive: true, force: true });
      }
    }),
    { numRuns: 150 },
  );
}, 60_000);
