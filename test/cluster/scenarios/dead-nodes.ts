import { cpSync, rmSync } from "node:fs";
import path from "node:path";
import { startBridge } from "../../crash/bridge-process.ts";
import { findRuntimeProcesses } from "../../crash/leftover-processes.ts";
import { planRounds } from "../../crash/plan-rounds.ts";
import type { ClusterNode } from "../cluster-node.ts";
import { pause, secondsSinceBoot } from "../pause.ts";
import type { Cluster, Scenario } from "../scenario.ts";

/** How long after the end of its lease the tasks of a dead node may take to end. */
const REAP_LIMIT_MS = 6000;

/** What a node that was frozen or cut off logs before it exits. */
const expulsionErrors = /database|storage_unavailable|PostgreSQL|declared this node dead/i;

/** Each node in turn is killed while it accepts, runs, posts or starts, and started again with its data directory. */
export const kills: Scenario = {
  name: "kills",
  minCompleted: 0.5,
  async act({ nodes, random, times, reach, count }) {
    for (const [index, { phase, occurrence, delay }] of planRounds(times(12), random).entries()) {
      const node = nodes[index % nodes.length] as ClusterNode;
      if (phase === "recovery") {
        await node.kill();
        void node.start().catch(() => {});
        await pause(delay * 1000);
      } else {
        await reach(phase, occurrence);
        await pause(delay);
      }
      await node.kill();
      count(`kills in ${phase}`);
      await node.start();
    }
  },
};

/** A node is lost, and then the one that may be ending its tasks. The last one ends the tasks of both. */
export const lostNodes: Scenario = {
  name: "lost-nodes",
  nodes: 3,
  minCompleted: 0.5,
  async act(cluster) {
    const { nodes, leaseMs, random, times, reach, count, expectSoon } = cluster;
    for (let number = 0; number < times(4); number += 1) {
      const [first, second] = [0, 1].map((offset) => nodes[(number + offset) % nodes.length] as ClusterNode);
      await reach("run", random.integer(5, 40));
      await first?.kill();
      await pause(leaseMs + random.integer(-500, 1500));
      await second?.kill();
      count("kills", 2);
      const limitMs = leaseMs + REAP_LIMIT_MS;
      const isReaped = async (): Promise<boolean> => (await countRunning(cluster, [first, second])) === 0;
      await expectSoon(`reap: tasks of lost nodes are running ${limitMs} ms later`, isReaped, limitMs);
      await Promise.all([first?.start(), second?.start()]);
      await pause(1000);
    }
  },
};

async function countRunning({ query }: Cluster, nodes: readonly (ClusterNode | undefined)[]): Promise<number> {
  const [row] = await query<{ count: number }>(
    "SELECT count(*)::int AS count FROM task JOIN node ON node.id = task.node WHERE task.state = 'running' AND node.name = ANY ($1)",
    [nodes.map((node) => node?.name)],
  );
  return row?.count ?? 0;
}

/** A node stands still for two leases while its agents go on. It learns that it was declared dead, kills its agents, and exits. */
export const frozenNode: Scenario = {
  name: "frozen-node",
  minCompleted: 0.5,
  nodes: 3,
  expectedErrors: expulsionErrors,
  async act(cluster) {
    const { nodes, leaseMs, random, times, reach, expectSoon, count } = cluster;
    for (let number = 0; number < times(4); number += 1) {
      const node = nodes[number % nodes.length] as ClusterNode;
      await dispatchSteadyTasks(cluster, node);
      await reach("run", random.integer(5, 40));
      node.life?.signal("SIGSTOP");
      const findDeath = watchDeath(cluster, node);
      await pause(2 * leaseMs);
      // A busy machine can delay the others, who look for dead nodes only while they themselves reach the database.
      await expectSoon(`reap: ${node.name} is not declared dead while it stands still`, () => findDeath() !== undefined);
      node.life?.signal("SIGCONT");
      count("faults");
      await expectExpelled(cluster, node);
      await node.start();
    }
  },
};

/** Returns a function that finds when others declared the node dead, from now on. */
function watchDeath({ sampler }: Cluster, { name }: ClusterNode) {
  const before = sampler.nodes.length;
  return () => sampler.nodes.slice(before).find((sample) => sample.name === name && sample.state === "gone");
}

/** The process exits with code 1, and none of its agents is left. */
async function expectExpelled({ expectSoon, onViolation }: Cluster, node: ClusterNode): Promise<void> {
  await expectSoon(`fence: ${node.name} does not exit after it was declared dead`, () => node.address === null);
  const codes = node.takeExits();
  if (codes.some((code) => code !== 1)) onViolation(`fence: ${node.name} exited with code ${codes.join(", ")} after it was declared dead`);
  await expectSoon(`fence: agents of ${node.name} are left after it exited`, () => findRuntimeProcesses(node.dataDir).length === 0, 1000);
}

const MS_PER_SECOND = 1000;

/** Agents that still work when the lease of their node is over. */
async function dispatchSteadyTasks({ orchestrator, tenants }: Cluster, node: ClusterNode): Promise<void> {
  for (const tenant of tenants) await orchestrator.dispatchOne(node.address ?? "", tenant, "steady");
}

/** The connections of one node to the database stall, in both directions or in one. It kills its agents before others declare it dead. */
export const stalledNode: Scenario = {
  name: "stalled-node",
  minCompleted: 0.5,
  nodes: 3,
  // A third of it separates the end of the agents from the moment when others may declare the node dead.
  leaseSeconds: 6,
  expectedErrors: expulsionErrors,
  async act(cluster) {
    const { nodes, leaseMs, random, times, reach, expectSoon, readJournals, onViolation, count } = cluster;
    for (let number = 0; number < times(4); number += 1) {
      const node = nodes[number % nodes.length] as ClusterNode;
      await dispatchSteadyTasks(cluster, node);
      await reach("run", random.integer(5, 40));
      node.proxy.stall(random.pick([undefined, "toServer", "toClient"] as const));
      const findDeath = watchDeath(cluster, node);
      await expectSoon(`reap: ${node.name} is not declared dead while its connections stall`, () => findDeath() !== undefined, 3 * leaseMs);
      await pause(leaseMs);
      const goneAt = findDeath()?.at ?? Number.POSITIVE_INFINITY;
      const beats = [...readJournals().values()].flat().filter(({ dataDir }) => dataDir === node.dataDir);
      const last = Math.max(0, ...beats.map(({ at }) => bootedAt() + at * MS_PER_SECOND));
      if (last > goneAt)
        onViolation(`fence: an agent of ${node.name} was running ${Math.round(last - goneAt)} ms after others declared it dead`);
      node.proxy.pass();
      count("faults");
      await expectExpelled(cluster, node);
      await node.start();
    }
  },
};

/** When the machine was started, in ms since the epoch. */
const bootedAt = (): number => Date.now() - secondsSinceBoot() * MS_PER_SECOND;

/** A copy of the data directory of a live node is rejected, and the node is not affected. */
export const clonedDirectory: Scenario = {
  name: "cloned-directory",
  nodes: 2,
  async act({ nodes, onViolation, count }) {
    const [node] = nodes as [ClusterNode];
    const copy = `${node.dataDir}-copy`;
    cpSync(node.dataDir, copy, { recursive: true, filter: (source) => path.relative(node.dataDir, source) !== "tmp" });
    const life = startBridge({ ...node.environment, BRIDGE_DATA_DIR: copy, BRIDGE_PORT: "0" });
    const code = await life.exited;
    if (code !== 1 || !/copy of its data directory/.test(life.stderr()))
      onViolation(`clone: a node with a copied directory exited with code ${code} and reported: ${life.stderr()}`);
    rmSync(copy, { recursive: true, force: true });
    count("faults");
    await pause(1000);
  },
};
