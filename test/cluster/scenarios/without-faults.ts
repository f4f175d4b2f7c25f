import type { ClusterNode } from "../cluster-node.ts";
import { pause } from "../pause.ts";
import type { Scenario } from "../scenario.ts";

/** Nothing happens, so every task has to end as it should. */
export const calm: Scenario = {
  name: "calm",
  leaseSeconds: 120,
  minCompleted: 0.75,
  async act({ times, query, onViolation }) {
    await pause(1000 + times(9000));
    const interrupted = await query<{ id: string }>(
      "SELECT id FROM task WHERE restarts > 0 OR result LIKE '%bridge_restarted%' OR state = 'running' AND node IS NULL",
    );
    for (const { id } of interrupted) onViolation(`calm: ${id} was interrupted`);
  },
};

/** Every node in turn is stopped and started again behind a load balancer. No dispatch is refused, and no answer is lost. */
export const rollingRestart: Scenario = {
  name: "rolling-restart",
  leaseSeconds: 120,
  nodes: 3,
  minCompleted: 0.75,
  // About 50 new tasks per second on an idle machine.
  load: { lanes: 10, maxPauseMs: 200, maxUnended: 1000, kinds: ["quick"], answerMs: 30_000 },
  usesLoadBalancer: true,
  async act({ nodes, times, count, expectSoon, onViolation, orchestrator }) {
    const [startedAt, tasksBefore] = [performance.now(), orchestrator.tasks.size];
    for (let number = 0; number < times(6); number += 1) {
      const node = nodes[number % nodes.length] as ClusterNode;
      const code = await node.stop();
      if (code !== 0) onViolation(`drain: ${node.name} stopped with code ${code}`);
      await node.start();
      await expectSoon(
        `drain: ${node.name} is not ready after its restart`,
        async () => (await fetch(`${node.address}/readyz`)).status === 200,
      );
      count("faults");
    }
    const rate = Math.round((1000 * (orchestrator.tasks.size - tasksBefore)) / (performance.now() - startedAt));
    count("tasksPerSecond", rate);
    const { refusals, lostAnswers } = orchestrator.figures;
    if (refusals > 0) onViolation(`drain: ${refusals} dispatches were refused: ${[...orchestrator.refusals.keys()].join(", ")}`);
    if (lostAnswers > 0) onViolation(`drain: ${lostAnswers} dispatches got no answer`);
  },
};

/** An old snapshot stays open, as a long report or a backup keeps it. */
export const oldSnapshot: Scenario = {
  name: "old-snapshot",
  leaseSeconds: 120,
  async act({ query, times }) {
    const seconds = 1 + times(9);
    // One statement keeps its snapshot for as long as it runs.
    await query("SELECT count(*), pg_sleep($1) FROM task", [seconds]);
  },
};
