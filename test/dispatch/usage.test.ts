import { expect, test } from "vitest";
import { dispatchTask, shellCommand, startBridgeProgram } from "../support/bridge-program.ts";
import { databaseOf } from "../support/database-subject.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";

const TASKS = 30;

test("after each kill, the rollup of usage contains exactly the tasks that had ended", async () => {
  const dataDir = await temporaryDirectory();
  const settings = { ...shellCommand("echo done"), BRIDGE_MAX_CONCURRENT: "4" };
  const { query } = await databaseOf(dataDir);
  for (const [round, killAfter] of [3, 10, 20].entries()) {
    const bridge = await startBridgeProgram(dataDir, settings);
    for (let number = 0; number < TASKS; number += 1) {
      const labels = { round: String(round), parity: String(number % 2) };
      await dispatchTask(bridge, { taskId: `t-${round}-${number}`, agentId: `agent-${number % 3}`, message: "work", labels });
    }
    const ended = async () =>
      (await (await bridge.call("GET", `/api/v2/stats?by=label`)).json()) as { data: { key: string; tasks: number }[] };
    await expect.poll(async () => (await ended()).data.find(({ key }) => key === `round=${round}`)?.tasks ?? 0).toBeGreaterThan(killAfter);
    bridge.signal("SIGKILL");
    await bridge.exited;

    // One statement, which sees one state: on PostgreSQL, the last commit can end after the process.
    const [row] = await query<Record<"ended" | "counted" | "labeled" | "agents", number>>(
      `SELECT (SELECT count(*) FROM task WHERE finished_at IS NOT NULL) AS ended,
        (SELECT sum(completed + failed + cancelled) FROM usage_hour) AS counted,
        (SELECT sum(completed + failed + cancelled) FROM usage_hour_label WHERE name = 'round') AS labeled,
        (SELECT count(*) FROM usage_hour u WHERE hour = (SELECT max(hour) FROM usage_hour) AND completed + failed + cancelled >
          (SELECT count(*) FROM task t WHERE t.finished_at IS NOT NULL AND t.agent_id = u.agent_id)) AS agents`,
    );
    const { ended: tasks = 0, counted = 0, labeled = 0, agents = 0 } = row ?? {};
    expect([Number(counted), Number(labeled), Number(agents)]).toEqual([Number(tasks), Number(tasks), 0]);
    expect(Number(tasks)).toBeGreaterThan(killAfter);
  }
});
