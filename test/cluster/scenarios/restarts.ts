import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import type { BridgeProgram } from "../../crash/bridge-process.ts";
import type { ClusterNode } from "../cluster-node.ts";
import { copySource } from "../copy-source.ts";
import type { Cluster, Scenario } from "../scenario.ts";

/** Every node in turn is stopped and started again behind a load balancer. No dispatch is refused, and no answer is lost. */
export const rollingRestart: Scenario = {
  name: "rolling-restart",
  leaseSeconds: 120,
  nodes: 3,
  minCompleted: 0.75,
  // About 50 new tasks per second on an idle machine.
  load: { lanes: 10, maxPauseMs: 200, maxUnended: 1000, kinds: ["quick"], answerMs: 30_000 },
  usesLoadBalancer: true,
  async act(cluster) {
    const { nodes, times, count, orchestrator } = cluster;
    const [startedAt, tasksBefore] = [performance.now(), orchestrator.tasks.size];
    for (let number = 0; number < times(6); number += 1) await restart(cluster, nodes[number % nodes.length] as ClusterNode);
    count("tasksPerSecond", Math.round((1000 * (orchestrator.tasks.size - tasksBefore)) / (performance.now() - startedAt)));
    expectNoRefusals(cluster);
  },
};

/** The nodes are upgraded one by one to a release with a newer schema, and return to this one, which works on that schema, too. */
export const rollingUpgrade: Scenario = {
  name: "rolling-upgrade",
  leaseSeconds: 120,
  nodes: 3,
  minCompleted: 0.75,
  load: { maxUnended: 100, answerMs: 30_000 },
  usesLoadBalancer: true,
  async act(cluster) {
    const { nodes, root, query, times, onViolation } = cluster;
    const next = createNextRelease(root, path.join(path.dirname((nodes[0] as ClusterNode).dataDir), "next-release"));
    for (const node of nodes) await restart(cluster, node, { root: next.root });
    const [schema] = await query<{ version: string; valid: boolean }>(
      `SELECT (SELECT value FROM meta WHERE name = 'schema_version') AS version,
         (SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass('task_next')) AS valid`,
    );
    if (Number(schema?.version) !== next.schemaVersion || schema?.valid !== true)
      onViolation(`upgrade: the schema has version ${schema?.version}, and its index is ${schema?.valid === true ? "valid" : "invalid"}`);
    for (const node of nodes.slice(0, times(nodes.length))) await restart(cluster, node);
    expectNoRefusals(cluster);
  },
};

async function restart(
  { expectSoon, onViolation, count }: Cluster,
  node: ClusterNode,
  program: Partial<BridgeProgram> = {},
): Promise<void> {
  const code = await node.stop();
  if (code !== 0) onViolation(`drain: ${node.name} stopped with code ${code}`);
  await node.start(program);
  await expectSoon(
    `drain: ${node.name} is not ready after its restart`,
    async () => (await fetch(`${node.address}/readyz`)).status === 200,
  );
  count("faults");
}

function expectNoRefusals({ orchestrator, onViolation }: Cluster): void {
  const { refusals, lostAnswers } = orchestrator.figures;
  const codes = [...orchestrator.refusals.keys()].join(", ");
  if (refusals > 0) onViolation(`drain: ${refusals} dispatches were refused: ${codes}`);
  if (lostAnswers > 0) onViolation(`drain: ${lostAnswers} dispatches got no answer: ${codes}`);
}

/** Copies the source to a directory of the run, with two more migrations. The columns would break statements that do not name theirs. */
function createNextRelease(source: string, root: string): { root: string; schemaVersion: number } {
  mkdirSync(root);
  copySource(root, source);
  const directory = path.join(root, "migrations/postgres");
  const last = readdirSync(directory).length;
  const columns = ["task", "event", "callback", "approval", "node"].map((table) => `ALTER TABLE ${table} ADD COLUMN next_field integer;`);
  const index = "DROP INDEX CONCURRENTLY IF EXISTS task_next;\nCREATE INDEX CONCURRENTLY task_next ON task (next_field);";
  const files = [`-- compatible-from: 1\n${columns.join("\n")}`, `-- compatible-from: 1\n-- alone\n${index}`];
  for (const [at, sql] of files.entries()) writeFileSync(path.join(directory, `${String(last + at + 1).padStart(3, "0")}-next.sql`), sql);
  return { root, schemaVersion: last + files.length };
}
