import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { ExecutionResult } from "#contract";
import type { Store } from "../../../src/store/store.ts";
import type { NewTask } from "../../../src/store/tasks/interface.ts";
import type { UsageCounts } from "../../../src/store/usage/interface.ts";
import type { Task } from "../../../src/task.ts";
import { createOpen, newFinish, newTask, type StoreSubject, started } from "./fixtures.ts";

/** Checks usage in a storage engine. */
export function usageConformance(subject: StoreSubject): void {
  const open = createOpen(subject);

  describe(`store: ${subject.name}`, () => {
    describe("usage", () => {
      const [HOUR, DAY] = [3_600_000, 86_400_000];

      test("usage counts each dollar, token and second of a runtime once, although the result of a parent repeats those of its children", async () => {
        let now = start;
        const { store } = await open(() => now);
        const insert = async (fields: Partial<NewTask>) => (await store.insertTaskIfAbsent(newTask(fields), { starts: true })).task;
        const parent = await insert({
          taskId: "council",
          provider: "council",
          request: { ...newTask().request, labels: { team: "docs" } },
        });
        const children = [await insert({ taskId: "one", provider: "p", parent }), await insert({ taskId: "two", provider: "q", parent })];
        const finish = newFinish();
        const resultOf = (inputTokens: number, costUsd: number): ExecutionResult => ({
          ...finish.result,
          ...{ usage: { inputTokens, outputTokens: 1 }, costUsd },
        });
        now += 4_000;
        for (const child of children) await store.finishTaskIfRunning(child, { ...finish, result: resultOf(10, 0.5) });
        now += 1_000;
        await store.finishTaskIfRunning(parent, { ...finish, result: resultOf(20, 1), hasChildren: true });
        const hours = [Math.floor(now / HOUR)];
        const expected = { duration_ms: 8_000, input_tokens: 20, cost_micros: 1_000_000, completed: 3, cost_unknown: 0 };
        expect((await store.sumUsage(parent.tenant, hours, "hour"))[0]?.counts).toMatchObject(expected);
        // A label counts the time of the parent, in which all of its children ran.
        expect((await store.sumUsage(parent.tenant, hours, "label"))[0]?.counts).toMatchObject({
          ...{ duration_ms: 5_000, input_tokens: 20, cost_micros: 1_000_000, completed: 1 },
        });
        const parts = await store.sumUsageParts(parent.tenant, hours, { by: "provider", keys: ["p"] });
        expect(new Map(parts.map(({ part, counts }) => [part, counts]))).toEqual(
          new Map([
            ["p", expect.objectContaining({ duration_ms: 4_000, completed: 1 })],
            ["*", expect.objectContaining({ duration_ms: 4_000, completed: 2 })],
          ]),
        );
        expect(parts.every(({ key }) => key === String(hours[0]))).toBe(true);
      });

      const start = 490_000 * HOUR;
      const dimensions = ["hour", "provider", "agent", "model", "label"] as const;
      const sumsOf = async (store: Store, tenant: string, hours: readonly number[]) =>
        Object.fromEntries(
          await Promise.all(
            dimensions.map(async (by) => {
              const sums = await store.sumUsage(tenant, hours, by);
              return [by, Object.fromEntries(sums.map(({ key, counts }) => [key, counts]))] as const;
            }),
          ),
        );

      test("usage equals the sum over the tasks that have ended, also those of one commit, of a failed commit, and after a reopen", async () => {
        let now = start;
        const { store, reopen } = await open(() => now);
        let run = 0;
        const end = fc.record({
          agentId: fc.constantFrom("a", "b"),
          provider: fc.constantFrom("p", "q"),
          model: fc.constantFrom("m", "n", undefined),
          label: fc.constantFrom("x", "\ud800", undefined),
          state: fc.constantFrom("completed", "failed", "cancelled" as const),
          costUsd: fc.option(
            fc.integer({ min: 0, max: 5_000 }).map((micros) => micros / 1e6),
            { nil: undefined },
          ),
          tokens: fc.option(fc.integer({ min: 0, max: 100 }), { nil: undefined }),
          hoursLater: fc.constantFrom(0, 0, 0, 1),
          isFaulty: fc.constantFrom(false, false, false, true),
        });
        await fc.assert(
          fc.asyncProperty(fc.array(fc.array(end, { minLength: 1, maxLength: 6 }), { maxLength: 5 }), async (commits) => {
            run += 1;
            const tenant = `tenant-${run}`;
            now = start;
            const expected: Record<string, Record<string, Partial<UsageCounts>>> = Object.fromEntries(dimensions.map((by) => [by, {}]));
            for (const ends of commits) {
              now += (ends[0]?.hoursLater ?? 0) * HOUR;
              const tasks = await Promise.all(
                ends.map(async ({ agentId, provider, label }, index) => {
                  const request = { ...newTask().request, ...(label !== undefined && { labels: { name: label } }) };
                  const fields = { tenant, taskId: `${now}-${index}-${Math.random()}`, agentId, provider, request };
                  return (await store.insertTaskIfAbsent(newTask(fields), { starts: true })).task;
                }),
              );
              await Promise.all(
                ends.map(async ({ state, model, costUsd, tokens, isFaulty, agentId, provider, label }, index) => {
                  const task = tasks[index] as Task;
                  const result: ExecutionResult = {
                    ...{ status: "ok", durationMs: 5, connection: "in-process" },
                    ...(model !== undefined && { model }),
                    ...(costUsd !== undefined && { costUsd }),
                    ...(tokens !== undefined && { usage: { inputTokens: tokens, outputTokens: 1 } }),
                  };
                  const callback = (): never => {
                    throw new Error("The body cannot be built.");
                  };
                  const finish = newFinish({ state, result, ...(isFaulty && { callback }) });
                  if (isFaulty) return expect(store.finishTaskIfRunning(task, finish)).rejects.toThrow();
                  const counts = {
                    ...{ completed: 0, failed: 0, cancelled: 0, [state]: 1 },
                    ...{
                      input_tokens: tokens ?? 0,
                      output_tokens: tokens === undefined ? 0 : 1,
                      usage_unknown: tokens === undefined ? 1 : 0,
                    },
                    ...{ cost_micros: Math.round((costUsd ?? 0) * 1e6), cost_unknown: costUsd === undefined ? 1 : 0 },
                  };
                  const keys = { hour: String(Math.floor(now / HOUR)), provider, agent: agentId, model: model ?? "" };
                  const all = label === undefined ? keys : { ...keys, label: `name=${label.toWellFormed()}` };
                  for (const [by, key] of Object.entries(all)) {
                    const sums = expected[by] as Record<string, Record<string, number>>;
                    const known = sums[key] ?? {};
                    sums[key] = Object.fromEntries(Object.entries(counts).map(([name, count]) => [name, (known[name] ?? 0) + count]));
                  }
                  // A second end has no effect.
                  expect(await store.finishTaskIfRunning(task, finish)).not.toBeNull();
                  expect(await store.finishTaskIfRunning(task, finish)).toBeNull();
                }),
              );
            }
            const hours = [0, 1, 2, 3, 4, 5].map((hour) => start / HOUR + hour);
            const sums = await sumsOf(store, tenant, hours);
            expect(Object.keys(sums["hour"] ?? {}).length).toBe(Object.keys(expected["hour"] ?? {}).length);
            expect(sums).toMatchObject(expected);
          }),
          { numRuns: 15 },
        );
        const hours = [start / HOUR, start / HOUR + 1];
        const before = await sumsOf(store, "tenant-2", hours);
        expect(await sumsOf(await reopen(), "tenant-2", hours)).toEqual(before);
      });

      test("usage belongs to a tenant and an hour, remains after retention has deleted the tasks, and ends after 400 days", async () => {
        let now = start;
        const { store } = await open(() => now);
        const request = { ...newTask().request, labels: { team: "docs" } };
        for (const [tenant, taskId] of [
          ["a", "first"],
          ["a", "second"],
          ["b", "third"],
        ] as const) {
          await store.finishTaskIfRunning(await started(store, { tenant, taskId, request }), newFinish());
          now += HOUR;
        }
        const completed = async (tenant: string, hour: number) =>
          Object.values(await sumsOf(store, tenant, [start / HOUR + hour])).map((sums) =>
            Object.values(sums).map((counts) => counts.completed),
          );
        const one = dimensions.map(() => [1]);
        const none = dimensions.map(() => []);
        expect([await completed("a", 0), await completed("a", 1), await completed("a", 2)]).toEqual([one, one, none]);
        expect([await completed("b", 0), await completed("b", 2)]).toEqual([none, one]);
        now = start + 390 * DAY;
        while ((await store.prune(7 * DAY, 100)) > 0);
        expect(await store.findTask("a", "first")).toBeNull();
        expect(await completed("a", 0)).toEqual(one);
        now = start + 400 * DAY + HOUR;
        while ((await store.prune(7 * DAY, 100)) > 0);
        expect([await completed("a", 0), await completed("a", 1), await completed("b", 2)]).toEqual([none, one, one]);
      });
    });
  });
}
