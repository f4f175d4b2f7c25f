import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { BudgetAsk, BudgetLimit, BudgetUse } from "../../../src/store/budgets/interface.ts";
import type { Store } from "../../../src/store/store.ts";
import type { Finish, NewTask } from "../../../src/store/tasks/interface.ts";
import type { Task } from "../../../src/task.ts";
import { raceForBudget } from "./budget-race.ts";
import { claim, createOpen, newFinish, newTask, type StoreSubject } from "./fixtures.ts";

const HOUR = 3_600_000;

/** A budget of 10 per hour. */
const limitAt = (now: number, fields: Partial<BudgetLimit> = {}): BudgetLimit => {
  const startsAt = now - (now % HOUR);
  return {
    name: "b",
    startsAt,
    endsAt: startsAt + HOUR,
    maxMicros: 10,
    maxTokens: null,
    warnAt: [],
    tenant: null,
    provider: null,
    ...fields,
  };
};
const asking = (askMicros: number, name = "b"): BudgetAsk => ({ name, askMicros, askTokens: null });
const spending = (micros: number | null, fields: Partial<Finish["result"]> = {}): Finish => {
  const finish = newFinish();
  return { ...finish, result: { ...finish.result, ...(micros !== null && { costUsd: micros / 1e6 }), ...fields } };
};
const report = (micros: number) => ({
  spent: { costUsd: micros / 1e6, costSource: "priced" as const, usage: { inputTokens: micros, outputTokens: 0 } },
  event: { type: "usage.reported" as const, data: "{}" },
});

/** Checks budgets in a storage engine. */
export function budgetConformance(subject: StoreSubject): void {
  const openStore = createOpen(subject);

  /** Opens a store with one budget. */
  async function open({ clock = Date.now, limit = {} }: { clock?: () => number; limit?: Partial<BudgetLimit> } = {}) {
    const opened = await openStore(clock);
    const reached: string[] = [];
    const calls = { rooms: 0 };
    const use: BudgetUse = {
      limitsAt: (now) => [limitAt(now, limit)],
      onReached: ({ taskId }, budget) => void reached.push(`${taskId} ${budget}`),
      onRoom() {
        calls.rooms += 1;
      },
    };
    opened.store.useBudgets(use);
    const counts = async (store = opened.store, now = clock()) => {
      const [read] = await store.readBudgets([limitAt(now, limit)], { countsWaiting: true });
      return read;
    };
    return { ...opened, use, reached, calls, counts };
  }

  const insert = (store: Store, taskId: string, asks: readonly BudgetAsk[], fields: Partial<NewTask> = {}) =>
    store.insertTaskIfAbsent(newTask({ taskId, asks, ...fields }));
  const start = async (store: Store, taskId: string, micros: number, fields: Partial<NewTask> = {}): Promise<Task> => {
    await insert(store, taskId, [asking(micros)], fields);
    return (await claim(store)) as Task;
  };

  describe(`store: ${subject.name}`, () => {
    describe("budgets", () => {
      test("a task that is stored and claimed in one commit starts only if the budget has room for what it asks", async () => {
        const { store, counts } = await open({ clock: () => HOUR });
        await start(store, "holder", 10);
        for (let round = 0; round < 20; round += 1) {
          const calls = Array.from({ length: 10 }, (_, index) => [insert(store, `${round}-${index}`, [asking(1)]), claim(store)]).flat();
          const started = (await Promise.all(calls)).filter((outcome) => outcome !== null && "state" in outcome);
          expect(started).toEqual([]);
        }
        expect(await counts(store, HOUR)).toMatchObject({ spentMicros: 0, reservedMicros: 10 });
      });

      test("a task starts only if the budget has room for what it asks, and a task behind it is not held up", async () => {
        const { store, counts } = await open();
        for (const [taskId, micros] of [
          ["large", 6],
          ["second", 6],
          ["small", 4],
        ] as const)
          await insert(store, taskId, [asking(micros)]);
        await insert(store, "free", []);
        expect((await claim(store))?.taskId).toBe("large");
        expect(await counts()).toMatchObject({ spentMicros: 0, reservedMicros: 6, waitingTasks: 1 });
        expect((await claim(store))?.taskId).toBe("small");
        expect((await claim(store))?.taskId).toBe("free");
        expect(await claim(store)).toBeNull();
        expect(await counts()).toMatchObject({ reservedMicros: 10, waitingTasks: 1 });
      });

      test("an insert starts a task only if the budget has room for what it asks, and reserves that", async () => {
        const { store, counts } = await open();
        const insertStarted = async (taskId: string, micros: number, fields: Partial<NewTask> = {}) =>
          (await store.insertTaskIfAbsent(newTask({ taskId, asks: [asking(micros)], ...fields }), { starts: true })).task;
        const first = await insertStarted("first", 6);
        expect(first.state).toBe("running");
        expect(await counts()).toMatchObject({ spentMicros: 0, reservedMicros: 6 });
        const large = await insertStarted("large", 6);
        expect(large.state).toBe("queued");
        const [status] = [...(await store.readTaskStatuses([large.seq])).values()];
        expect(status?.queued?.budgets).toEqual([asking(6)]);
        expect(await store.listTaskBudgets(large.seq)).toEqual(["b"]);
        expect((await insertStarted("small", 3)).state).toBe("running");
        expect((await insertStarted("child", 3, { parent: first })).state).toBe("running");
        expect(await counts()).toMatchObject({ reservedMicros: 10, waitingTasks: 1 });
        expect((await insertStarted("first", 6)).seq).toBe(first.seq);
        expect(await counts()).toMatchObject({ reservedMicros: 10 });
        await store.finishTaskIfRunning(first, spending(2));
        expect(await counts()).toMatchObject({ spentMicros: 2, reservedMicros: 4, waitingTasks: 1 });
      });

      test("inserts of one commit start only as many tasks as the budget has room for", async () => {
        const { store, counts } = await open();
        const tasks = Array.from({ length: 20 }, (_, index) => newTask({ taskId: `t${index}`, agentId: `a${index}`, asks: [asking(3)] }));
        const stored = await Promise.all(tasks.map((task) => store.insertTaskIfAbsent(task, { starts: true })));
        expect(stored.map(({ task }) => task.state).toSorted()).toEqual([...Array(17).fill("queued"), ...Array(3).fill("running")]);
        expect(await counts()).toMatchObject({ reservedMicros: 9, waitingTasks: 17 });
      });

      test("the end of a task replaces its reservation by its cost, and a report counts before", async () => {
        const { store, counts, calls } = await open();
        const task = await start(store, "t", 5);
        expect(await store.reportUsageIfRunning(task, report(2))).toBe(true);
        expect(await counts()).toMatchObject({ spentMicros: 2, reservedMicros: 3, spentTokens: 2 });
        expect(calls.rooms).toBe(0);
        await store.finishTaskIfRunning(task, spending(3));
        expect(await counts()).toMatchObject({ spentMicros: 3, reservedMicros: 0, estimatedMicros: 0 });
        expect(calls.rooms).toBe(1);
        expect(await store.finishTaskIfRunning(task, spending(3))).toBeNull();
        expect(await counts()).toMatchObject({ spentMicros: 3 });
        expect(await store.listTaskBudgets(task.seq)).toEqual([]);
      });

      test("an unknown cost counts as what was metered, else as the reservation, which is an estimate; a task that called no model is free", async () => {
        const { store, counts } = await open();
        const metered = await start(store, "metered", 3);
        await store.reportUsageIfRunning(metered, report(1));
        await store.finishTaskIfRunning(metered, spending(null));
        await store.finishTaskIfRunning(await start(store, "unknown", 4), spending(null));
        await store.finishTaskIfRunning(await start(store, "free", 4), spending(null, { errorCode: "spawn_failed" }));
        expect(await counts()).toMatchObject({ spentMicros: 5, reservedMicros: 0, estimatedMicros: 4 });
      });

      test("a task that ends in the queue has spent nothing", async () => {
        const { store, counts } = await open();
        const { task } = await insert(store, "t", [asking(4)]);
        await store.finishTaskIfQueued(task, newFinish({ state: "cancelled" }));
        expect(await counts()).toMatchObject({ spentMicros: 0, reservedMicros: 0, waitingTasks: 0 });
      });

      test("a report above the reservation names the budget if it has no room left, for the task that exceeds its own reservation", async () => {
        const { store, reached, counts } = await open();
        const [first, second] = [await start(store, "first", 5), await start(store, "second", 5)];
        await store.reportUsageIfRunning(first, report(5));
        expect(reached).toEqual([]);
        await store.reportUsageIfRunning(first, report(6));
        await store.reportUsageIfRunning(second, report(5));
        expect(reached).toEqual(["first b"]);
        expect(await counts()).toMatchObject({ spentMicros: 11, reservedMicros: 0 });
      });

      test("a budget warns once of each threshold in a period, in the log of the task that reaches it", async () => {
        const { store, published } = await open({ limit: { warnAt: [0.5, 0.8] } });
        const first = await start(store, "first", 5);
        await store.reportUsageIfRunning(first, report(5));
        const second = await start(store, "second", 5);
        await store.reportUsageIfRunning(second, report(1));
        await store.finishTaskIfRunning(first, spending(5));
        await store.finishTaskIfRunning(second, spending(5));
        const warnings = published.filter(({ type }) => type === "budget.warning");
        expect(warnings.map(({ task, data }) => [task.taskId, JSON.parse(data)])).toEqual([
          ["first", { budget: "b", share: 0.5, spentUsd: 5e-6, maxCostUsd: 1e-5, spentTokens: 5, maxTokens: null }],
          ["second", { budget: "b", share: 0.8, spentUsd: 1e-5, maxCostUsd: 1e-5, spentTokens: 5 + 1, maxTokens: null }],
        ]);
        const types = (await store.readTaskEvents(second.seq, 0, 10, "all")).map(({ type }) => type);
        expect(types).toEqual(["execution.started", "usage.reported", "budget.warning", "execution.completed"]);
      });

      test("the next period has room, and a task that runs into it settles in the period in which it was reserved", async () => {
        let now = 100 * HOUR;
        const { store, counts } = await open({ clock: () => now });
        const long = await start(store, "long", 10);
        await insert(store, "next", [asking(10)]);
        expect(await claim(store)).toBeNull();
        now += HOUR;
        expect((await claim(store))?.taskId).toBe("next");
        await store.finishTaskIfRunning(long, spending(7));
        expect(await counts(store, now - HOUR)).toMatchObject({ spentMicros: 7, reservedMicros: 0 });
        expect(await counts()).toMatchObject({ spentMicros: 0, reservedMicros: 10 });
      });

      test("a task that is queued again keeps what it has used, and needs the rest", async () => {
        const { store, counts, reopen, use } = await open();
        const request = { ...newTask().request, onInterrupt: "retry" as const };
        const task = await start(store, "t", 8, { request });
        await store.reportUsageIfRunning(task, report(3));
        expect(await store.requeueTaskIfRunning(task)).toBe(true);
        expect(await counts()).toMatchObject({ spentMicros: 3, reservedMicros: 0, estimatedMicros: 0 });
        const again = await reopen();
        again.useBudgets(use);
        const second = (await claim(again)) as Task;
        expect(await counts(again)).toMatchObject({ spentMicros: 3, reservedMicros: 5 });
        await again.finishTaskIfRunning(second, spending(9));
        expect(await counts(again)).toMatchObject({ spentMicros: 9, reservedMicros: 0 });
      });

      test("a task that waits after a smaller sum than its budget has counted is not counted again in its next run", async () => {
        const { store, counts } = await open({ limit: { maxMicros: 100 } });
        const task = await start(store, "t", 20);
        await store.meterIfRunning(task, report(8).spent);
        const event = { type: "execution.progress", data: "{}" } as const;
        const postponement = { startAfter: 0, maxWaitMs: Number.MAX_SAFE_INTEGER, reason: "limit", spent: report(1).spent, event };
        expect(await store.postponeTaskIfRunning(task, postponement)).toBe(true);
        expect(await counts()).toMatchObject({ spentMicros: 8, reservedMicros: 0 });
        const again = (await claim(store)) as Task;
        await store.meterIfRunning(again, report(9).spent);
        expect(await counts()).toMatchObject({ spentMicros: 9, reservedMicros: 11 });
        await store.finishTaskIfRunning(again, spending(10));
        expect(await counts()).toMatchObject({ spentMicros: 10, reservedMicros: 0 });
      });

      test("a task that ends with less than was counted before refunds a period only what that period has counted", async () => {
        let now = 100 * HOUR;
        const { store, counts } = await open({ clock: () => now, limit: { maxMicros: 100 } });
        const event = { type: "execution.progress", data: "{}" } as const;
        const postponement = { startAfter: 0, maxWaitMs: Number.MAX_SAFE_INTEGER, reason: "limit", spent: report(1).spent, event };
        const countThenPostpone = async (task: Task, micros: number) => {
          await store.meterIfRunning(task, report(micros).spent);
          expect(await store.postponeTaskIfRunning(task, postponement)).toBe(true);
          return (await claim(store)) as Task;
        };
        const second = await countThenPostpone(await start(store, "t", 20), 5);
        now += HOUR;
        const third = await countThenPostpone(await countThenPostpone(second, 8), 14);
        await store.meterIfRunning(third, report(16).spent);
        expect(await counts()).toMatchObject({ spentMicros: 8 });
        await store.finishTaskIfRunning(third, spending(9));
        expect(await counts()).toMatchObject({ spentMicros: 1, reservedMicros: 0 });
        expect(await counts(store, now - HOUR)).toMatchObject({ spentMicros: 8 });
        const started = await store.insertTaskIfAbsent(newTask({ taskId: "u", asks: [asking(20)] }), { starts: true });
        await store.finishTaskIfRunning(await countThenPostpone(started.task, 5), spending(2));
        expect(await counts()).toMatchObject({ spentMicros: 3 });
        const late = await countThenPostpone(await start(store, "v", 20), 7);
        now += HOUR;
        await store.finishTaskIfRunning(await start(store, "other", 4), spending(4));
        await store.finishTaskIfRunning(await countThenPostpone(late, 9), spending(2));
        expect(await counts()).toMatchObject({ spentMicros: 4 });
        expect(await counts(store, now - HOUR)).toMatchObject({ spentMicros: 12 });
      });

      test("a task that has used no model spends nothing of its reservation", async () => {
        const { store, counts } = await open();
        const task = await start(store, "t", 8);
        await store.finishTaskIfRunning(task, { ...spending(null), usedNoModel: true });
        expect(await counts()).toMatchObject({ spentMicros: 0, estimatedMicros: 0, reservedMicros: 0 });
      });

      test("a task whose budget is not in the file any more starts without a reservation", async () => {
        const { store, use, counts } = await open();
        await insert(store, "t", [asking(50)]);
        store.useBudgets({ ...use, limitsAt: () => [] });
        const task = (await claim(store)) as Task;
        await store.finishTaskIfRunning(task, spending(3));
        expect(await counts()).toMatchObject({ spentMicros: 0, reservedMicros: 0 });
      });

      test("a child starts without room, and reserves what is left", async () => {
        const { store, counts } = await open();
        const parent = await start(store, "parent", 8);
        await insert(store, "child", [asking(5)], { parent });
        expect((await claim(store, { kind: "child" }))?.taskId).toBe("child");
        expect(await counts()).toMatchObject({ reservedMicros: 10 });
      });

      test("a budget limits tokens, too", async () => {
        const { store, counts } = await open({ limit: { maxMicros: null, maxTokens: 100 } });
        const ask = { name: "b", askMicros: null, askTokens: 60 };
        for (const taskId of ["first", "second"]) await insert(store, taskId, [ask]);
        const task = (await claim(store)) as Task;
        expect(await claim(store)).toBeNull();
        await store.finishTaskIfRunning(task, spending(1, { usage: { inputTokens: 30, outputTokens: 10 } }));
        expect(await counts()).toMatchObject({ spentTokens: 40, spentMicros: 1 });
        expect((await claim(store))?.taskId).toBe("second");
      });

      test("an adjustment replaces what is spent, and makes room", async () => {
        const { store, counts, calls } = await open();
        await store.finishTaskIfRunning(await start(store, "t", 5), spending(10));
        await insert(store, "waiting", [asking(4)]);
        expect(await claim(store)).toBeNull();
        const limit = limitAt(Date.now());
        const before = calls.rooms;
        expect(await store.adjustBudget(limit, { spentMicros: 2, by: "ops", reason: "a price was wrong" })).toMatchObject({
          spentMicros: 2,
        });
        expect(calls.rooms).toBe(before + 1);
        expect(await counts()).toMatchObject({ spentMicros: 2, waitingTasks: 0 });
        expect((await claim(store))?.taskId).toBe("waiting");
      });

      test("an estimate reads the newest ended tasks of an agent, an adapter and a model", async () => {
        const { store } = await open();
        const end = async (
          taskId: string,
          micros: number | null,
          fields: Partial<NewTask> = {},
          result: Partial<Finish["result"]> = {},
        ) => {
          const { task } = await store.insertTaskIfAbsent(newTask({ taskId, ...fields }), { starts: true });
          await store.finishTaskIfRunning(task, spending(micros, result));
        };
        await end("oldest", 1, {}, { model: "m" });
        await end("unknown", null, {}, { model: "m" });
        await end("other model", 3, {}, { model: "n" });
        await end("other agent", 4, { agentId: "x" }, { model: "m" });
        await end("newest", 5, {}, { model: "m", usage: { inputTokens: 7, outputTokens: 1 } });
        const read = (model: string | null, limit: number) =>
          store.readRecentSpending({ tenant: "default", agentId: "agent", provider: "command", model }, limit);
        expect(await read("m", 5)).toEqual([
          { micros: 5, tokens: 8 },
          { micros: 1, tokens: null },
        ]);
        expect(await read(null, 2)).toEqual([
          { micros: 5, tokens: 8 },
          { micros: 3, tokens: null },
        ]);
      });

      test("periods end after 400 days", async () => {
        let now = 1_000 * HOUR;
        const { store, counts } = await open({ clock: () => now });
        await store.finishTaskIfRunning(await start(store, "t", 5), spending(5));
        const at = now;
        now += 400 * 24 * HOUR;
        while ((await store.prune(HOUR, 100)) > 0);
        expect(await counts(store, at)).toMatchObject({ spentMicros: 5 });
        now += 2 * HOUR;
        while ((await store.prune(HOUR, 100)) > 0);
        expect(await counts(store, at)).toMatchObject({ spentMicros: 0 });
      });

      test("200 tasks that race for a budget never reserve more than it has", async () => {
        const { store } = await open();
        await raceForBudget([store]);
      });

      test("a failed end changes no counts, and the other ends of the same commit do", async () => {
        const { store, counts } = await open();
        const [failing, other] = [await start(store, "failing", 4), await start(store, "other", 3)];
        const reject = () => {
          throw new Error("There is no body.");
        };
        const ends = await Promise.allSettled([
          store.finishTaskIfRunning(failing, { ...spending(2), callback: reject }),
          store.finishTaskIfRunning(other, spending(1)),
        ]);
        expect(ends.map(({ status }) => status)).toEqual(["rejected", "fulfilled"]);
        expect(await counts()).toMatchObject({ spentMicros: 1, reservedMicros: 4 });
        await store.finishTaskIfRunning(failing, spending(2));
        expect(await counts()).toMatchObject({ spentMicros: 3, reservedMicros: 0 });
      });

      const order = fc.record({
        kind: fc.constantFrom("insert", "claim", "claim", "end"),
        asks: fc.record({ b: fc.nat({ max: 6 }), c: fc.nat({ max: 6 }) }),
        task: fc.nat({ max: 3 }),
      });

      test("a claim starts the oldest task for which all of its budgets have room", async () => {
        let now = 20_000 * HOUR;
        const { store, use } = await open({ clock: () => now });
        store.useBudgets({ ...use, limitsAt: (at) => [limitAt(at), limitAt(at, { name: "c" })] });
        let run = 0;
        await fc.assert(
          fc.asyncProperty(fc.array(order, { minLength: 30, maxLength: 50, size: "max" }), async (steps) => {
            run += 1;
            now += HOUR;
            const queued: { taskId: string; asks: Record<"b" | "c", number> }[] = [];
            const running: (Pick<(typeof queued)[number], "asks"> & { task: Task })[] = [];
            const roomOf = (name: "b" | "c") => 10 - running.reduce((sum, { asks }) => sum + asks[name], 0);
            for (const { kind, asks, task: index } of steps) {
              const taskId = `${run}-${queued.length}-${running.length}-${Math.random()}`;
              if (kind === "insert") {
                const given = (["c", "b"] as const).flatMap((name) => (asks[name] === 0 ? [] : [asking(asks[name], name)]));
                await store.insertTaskIfAbsent(newTask({ taskId, ...(given.length > 0 && { asks: given }) }));
                queued.push({ taskId, asks });
              } else if (kind === "claim") {
                const next = queued.find(({ asks: wanted }) => wanted.b <= roomOf("b") && wanted.c <= roomOf("c"));
                const claimed = await claim(store);
                expect(claimed?.taskId).toBe(next?.taskId);
                if (next === undefined || claimed === null) continue;
                queued.splice(queued.indexOf(next), 1);
                running.push({ task: claimed, asks: next.asks });
              } else {
                const [ended] = running.splice(index, 1);
                if (ended !== undefined) await store.finishTaskIfRunning(ended.task, spending(0));
              }
            }
            for (const { task } of running) await store.finishTaskIfRunning(task, spending(0));
            for (let left = await store.findQueuedTask("command"); left !== null; left = await store.findQueuedTask("command"))
              await store.finishTaskIfQueued(left, newFinish({ state: "cancelled" }));
          }),
          { numRuns: 10 },
        );
      });

      const step = fc.record({
        kind: fc.constantFrom("insert", "start", "claim", "report", "end", "endUnknown", "requeue", "crash"),
        task: fc.nat({ max: 5 }),
        amount: fc.nat({ max: 5 }),
      });

      test("what is spent and reserved equals a simple model, in any order of starts, reports, ends, requeues and crashes", async () => {
        let now = 10_000 * HOUR;
        const { store: first, reopen, use } = await open({ clock: () => now });
        let store = first;
        let run = 0;
        await fc.assert(
          fc.asyncProperty(fc.array(step, { minLength: 40, maxLength: 60, size: "max" }), async (steps) => {
            run += 1;
            now += HOUR;
            interface Modeled {
              ask: number;
              task: Task | null;
              state: "queued" | "running" | "ended";
              used: number;
              held: number;
              guessed: number;
            }
            const tasks: Modeled[] = [];
            const sum = (field: "used" | "held" | "guessed") => tasks.reduce((total, each) => total + each[field], 0);
            const hasRoom = ({ ask, used }: Pick<Modeled, "ask" | "used">) => {
              const room = Math.max(0, 10 - sum("used") - sum("guessed") - sum("held"));
              return Math.max(1, ask - used) <= room || room === 10;
            };
            const end = (one: Modeled, isKnown: boolean) => {
              if (!isKnown && one.used === 0) one.guessed += one.held;
              one.held = 0;
            };
            for (const { kind, task: index, amount } of steps) {
              const one = tasks[index];
              const { task = null } = one ?? {};
              if (kind === "insert") {
                const ask = 1 + (amount % 5);
                await insert(store, `${run}-${tasks.length}`, [asking(ask)]);
                tasks.push({ ask, task: null, state: "queued", used: 0, held: 0, guessed: 0 });
              } else if (kind === "start") {
                const ask = 1 + (amount % 5);
                const given = newTask({ taskId: `${run}-${tasks.length}`, asks: [asking(ask)] });
                const { task: stored } = await store.insertTaskIfAbsent(given, { starts: true });
                const starts = hasRoom({ ask, used: 0 });
                expect(stored.state).toBe(starts ? "running" : "queued");
                const state = starts
                  ? ({ task: stored, state: "running", held: ask } as const)
                  : ({ task: null, state: "queued", held: 0 } as const);
                tasks.push({ ask, used: 0, guessed: 0, ...state });
              } else if (kind === "claim") {
                const next = tasks.find((each) => each.state === "queued" && hasRoom(each));
                const claimed = await claim(store);
                expect(claimed?.taskId).toBe(next === undefined ? undefined : `${run}-${tasks.indexOf(next)}`);
                if (next !== undefined) Object.assign(next, { task: claimed, state: "running", held: Math.max(1, next.ask - next.used) });
              } else if (kind === "crash") {
                store = await reopen();
                store.useBudgets(use);
              } else if (one === undefined || task === null || one.state !== "running") continue;
              else if (kind === "report") {
                one.used += amount;
                one.held = Math.max(0, one.held - amount);
                await store.reportUsageIfRunning(task, report(one.used));
              } else if (kind === "requeue") {
                if (!(await store.requeueTaskIfRunning(task))) continue;
                end(one, false);
                one.state = "queued";
              } else {
                if (kind === "end") one.used += amount;
                end(one, kind === "end");
                one.state = "ended";
                await store.finishTaskIfRunning(task, spending(kind === "end" ? one.used : null));
              }
              const [counts] = await store.readBudgets([limitAt(now)]);
              expect(counts).toMatchObject({
                ...{ spentMicros: sum("used") + sum("guessed"), reservedMicros: sum("held"), estimatedMicros: sum("guessed") },
              });
            }
            for (const { task, state } of tasks)
              if (task !== null && state === "running") await store.finishTaskIfRunning(task, spending(0));
            for (let left = await store.findQueuedTask("command"); left !== null; left = await store.findQueuedTask("command"))
              await store.finishTaskIfQueued(left, newFinish({ state: "cancelled" }));
          }),
          { numRuns: 15 },
        );
      });
    });
  });
}
