import { afterAll, beforeAll, expect, test } from "vitest";
import { type CellBench, markedProcesses, openCellBench } from "./table/cell-bench.ts";
import { expectProcessesEnded, untilAtWork } from "./table/processes.ts";

let bench: CellBench;
beforeAll(async () => {
  bench = await openCellBench("claude-agent-sdk", "in-process");
});
afterAll(() => bench?.close());

test("the next start of Bridge kills the processes that a killed Bridge left running", async () => {
  const command = "sleep 4714003";
  const marker = bench.model.scenario([{ say: "I will wait.", tools: [{ kind: "shell", command }] }, { text: "Never." }]);
  const taskId = await bench.dispatch({ message: `Do it. ${marker}`, profile: "modify", approvals: "allow" });
  await untilAtWork(bench, taskId, command);
  expect(markedProcesses(bench.dataDir, taskId).map((one) => one.command)).toContain(command);
  await bench.crash();
  await expectProcessesEnded(bench, taskId);
  expect(await bench.ended(taskId)).toMatchObject({ state: "failed", result: { errorCode: "bridge_restarted" } });
  expect(await bench.leftovers()).toEqual([]);
});
