import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type CellBench, openCellBench } from "./cell-bench.ts";
import { exceptions } from "./exceptions.ts";
import { expectKeyAtVendorOnly, expectNoKey } from "./keys.ts";
import { writeResult } from "./results.ts";
import { type Runtime, runtimes } from "./runtimes.ts";
import { scenarios } from "./scenarios.ts";

const CELL_LIMIT_MS = 180_000;

/**
 * Plays the cells of one runtime: every scenario over every connection, each as a real dispatch over HTTP. With `proxy`, the runtime calls
 * its model through Bridge's proxy, which must change nothing but the usage.
 */
export function playCells(runtime: Runtime, { proxy = false } = {}): void {
  describe.each(runtimes[runtime].connections)(`${runtime} over %s${proxy ? " with the proxy" : ""}`, (connection) => {
    const held: string[] = [];
    let bench: CellBench | undefined;

    beforeAll(async () => {
      bench = await openCellBench(runtime, connection, proxy ? { BRIDGE_MODEL_PROXY: "required" } : {});
    }, CELL_LIMIT_MS);
    afterAll(async () => {
      if (bench === undefined) return;
      const { health } = await bench.adapter();
      // The table shows the runtimes without the proxy.
      if (!proxy) writeResult({ runtime, connection, version: health.version, held, cancelMs: bench.cancelMs });
      await bench.close();
    }, CELL_LIMIT_MS);

    if (proxy)
      test("the tools of a task see no real key", { timeout: CELL_LIMIT_MS }, async () => {
        if (bench === undefined) throw new Error("the bench did not open");
        await expectNoKey(bench);
      });
    if (proxy)
      test("a budget ends a task before its next call of the model", { timeout: CELL_LIMIT_MS }, async () => {
        if (bench === undefined) throw new Error("the bench did not open");
        const marker = bench.model.scenario([{ tools: [{ kind: "shell", command: "echo spent" }] }, { text: "Never." }]);
        const budget = { maxTokens: 100 };
        const taskId = await bench.dispatch({ message: `Spend it. ${marker}`, profile: "modify", budget });
        expect(await bench.ended(taskId)).toMatchObject({ state: "failed", result: { errorCode: "budget_exceeded" } });
        // Every answer for the task has more tokens than the budget, so there is one.
        expect(bench.model.usages.slice(bench.answersBefore).filter(({ prompt }) => prompt > 100)).toHaveLength(1);
      });
    for (const { name, play } of scenarios) {
      const exception = exceptions.find((one) => one.runtime === runtime && one.connection === connection && one.scenario === name);
      if (exception !== undefined && !(proxy && exception.needsProxy === true)) continue;
      test(name, { timeout: CELL_LIMIT_MS }, async () => {
        if (bench === undefined) throw new Error("the bench did not open");
        await play(bench);
        expect(await bench.leftovers()).toEqual([]);
        if (proxy) expectKeyAtVendorOnly(bench);
        held.push(name);
      });
    }
  });
}
