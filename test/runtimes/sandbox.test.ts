import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type CellBench, openCellBench } from "./table/cell-bench.ts";
import { exceptions } from "./table/exceptions.ts";
import { type Runtime, runtimes } from "./table/runtimes.ts";
import { scenarios } from "./table/scenarios.ts";

const CELL_LIMIT_MS = 180_000;
const wanted = process.env["CELLS"] ? null : ["text", "tool call", "resume", "cancel in a tool", "`inspect` cannot write", "`modify` can", "MCP server"];

describe.each(Object.keys(runtimes) as Runtime[])("%s in a sandbox", (runtime) => {
  describe.each(runtimes[runtime].connections)("over %s", (connection) => {
    let bench: CellBench;
    beforeAll(async () => {
      bench = await openCellBench(runtime, connection, { BRIDGE_SANDBOX: "required" });
    }, CELL_LIMIT_MS);
    afterAll(() => bench?.close());

    for (const { name, play } of scenarios.filter((one) => wanted === null || wanted.includes(one.name))) {
      if (exceptions.some((one) => one.runtime === runtime && one.connection === connection && one.scenario === name)) continue;
      test(name, { timeout: CELL_LIMIT_MS }, async () => {
        await play(bench);
        expect(await bench.leftovers()).toEqual([]);
      });
    }
  });
});
