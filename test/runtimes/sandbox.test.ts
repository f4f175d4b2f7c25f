import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import type { Connection } from "#contract";
import { type CellBench, openCellBench } from "./table/cell-bench.ts";
import { exceptions } from "./table/exceptions.ts";
import { expectNoKey } from "./table/keys.ts";
import { expectProcessesEnded, untilAtWork } from "./table/processes.ts";
import { type Runtime, runtimes } from "./table/runtimes.ts";
import { scenarios } from "./table/scenarios.ts";

/** Scenarios over every connection: a tool runs, and the profile is enforced. */
const everywhere = ["tool call", "`inspect` cannot write"];
/** Scenarios over the first connection that supports them: those that use the home, the workspace and further processes. */
const once = ["text", "resume", "`modify` can", "MCP server", "declared tools"];

/** The real programs in a sandbox: they can write only to the directories of their task, and cannot read those of Bridge. */
describe.each(Object.keys(runtimes) as Runtime[])("%s in a sandbox", (runtime) => {
  describe.each(runtimes[runtime].connections)("over %s", (connection) => {
    let bench: CellBench;
    beforeAll(async () => {
      bench = await openCellBench(runtime, connection, { BRIDGE_SANDBOX: "required" });
    });
    afterAll(() => bench?.close());

    const played = [...everywhere, ...once.filter((name) => connection === firstThatCan(runtime, name))];
    test.each(scenarios.filter(({ name }) => played.includes(name)))("$name", async ({ play }) => {
      await play(bench);
      expect(await bench.leftovers()).toEqual([]);
    });

    test("cancel in a tool", async () => {
      const taskId = await startSleeping(bench, 4_714_001);
      await bench.cancel(taskId);
      await expectProcessesEnded(bench, taskId);
      expect(await bench.ended(taskId)).toMatchObject({ state: "cancelled", result: { errorCode: "cancelled" } });
      expect(await bench.leftovers()).toEqual([]);
    });

    // This test is the last one, because it kills the Bridge of the bench.
    test("kill -9 of Bridge in a tool", async () => {
      const taskId = await startSleeping(bench, 4_714_002);
      bench.bridge.signal("SIGKILL");
      await bench.bridge.exited;
      await expectProcessesEnded(bench, taskId);
    });
  });
});

test.each(Object.keys(runtimes) as Runtime[])(
  "a task of %s in a sandbox reaches the model proxy, and sees no real key",
  async (runtime) => {
    const [connection = "cli"] = runtimes[runtime].connections;
    const bench = await openCellBench(runtime, connection, { BRIDGE_SANDBOX: "required", BRIDGE_MODEL_PROXY: "required" });
    onTestFinished(() => bench.close());
    await expectNoKey(bench);
  },
);

function firstThatCan(runtime: Runtime, scenario: string): Connection | undefined {
  const cannot = exceptions.filter((one) => one.runtime === runtime && one.scenario === scenario);
  return runtimes[runtime].connections.find((connection) => !cannot.some((one) => one.connection === connection));
}

/** Starts a task whose tool sleeps, and waits until the tool runs. */
async function startSleeping(bench: CellBench, seconds: number): Promise<string> {
  const command = `sleep ${seconds}`;
  const marker = bench.model.scenario([{ say: "I will wait.", tools: [{ kind: "shell", command }] }, { text: "Never." }]);
  const taskId = await bench.dispatch({ message: `Do it. ${marker}`, profile: "modify", approvals: "allow" });
  await untilAtWork(bench, taskId, command);
  return taskId;
}
