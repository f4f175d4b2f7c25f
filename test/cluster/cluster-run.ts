import { randomBytes } from "node:crypto";
import path from "node:path";
import { Client } from "pg";
import type { EventEnvelope } from "#contract";
import type { BridgeProgram } from "../crash/bridge-process.ts";
import { startCallbackReceiver } from "../crash/callback-receiver.ts";
import { createInstallation } from "../crash/installation.ts";
import { findRuntimeProcesses } from "../crash/leftover-processes.ts";
import { createOrchestrator, type Load, taskKey } from "../crash/orchestrator.ts";
import { createPhaseCounter } from "../crash/phase-counter.ts";
import { createRandom } from "../crash/random.ts";
import { isCalm, readResults } from "../crash/read-api.ts";
import { readPostgresState } from "../crash/stored-state.ts";
import type { PostgresCluster } from "../support/postgres/cluster.ts";
import { until } from "../support/until.ts";
import { checkCluster } from "./cluster-checker.ts";
import { type ClusterNode, createClusterNode } from "./cluster-node.ts";
import { startLoadBalancer } from "./load-balancer.ts";
import { createMovingFollower } from "./moving-follower.ts";
import { startSampler } from "./sampler.ts";
import type { Cluster, Scenario } from "./scenario.ts";
import { startSpendingWatch } from "./spending-watch.ts";

/** Options of one run of a scenario. */
export interface ClusterRunOptions {
  server: PostgresCluster;
  scenario: Scenario;
  /** Determines the dispatches and the faults. The rest depends on the operating system. */
  seed: number;
  nodes: number;
  leaseSeconds: number;
  /** The part of its repetitions that a scenario runs, from 0 to 1. */
  extent: number;
  /** Which source the nodes run. */
  program?: Partial<BridgeProgram> | undefined;
  /** Called at the beginning of each step of the run. */
  onStep?(step: string): void;
}

/** Result of a run. */
export interface ClusterReport {
  violations: string[];
  figures: Record<string, number>;
}

const repository = path.resolve(import.meta.dirname, "../..");
const MAX_CONCURRENT = 4;
const FOLLOWERS_PER_TENANT = 2;
/** The slots for which the budgets of the crash test have too little room. */
const BUDGETED_SLOTS = 8;
const PHASE_LIMIT_MS = 3000;
const SETTLE_LIMIT_MS = 20_000;
const EXPECT_LIMIT_MS = 20_000;
/** A task ends before the last of its processes is killed. */
const SWEEP_LIMIT_MS = 5000;

/** A shorter lease can end because other programs use the machine. */
const LONG_LEASE_SECONDS = 20;
const LOST_LEASE = /the database did not answer for most of the lease|the database answers again/;

/** The load of so many nodes. */
const createLoad = (nodes: number): Load => ({
  lanes: 6,
  maxPauseMs: 150,
  maxUnended: 4 + 6 * nodes,
  agents: 9,
  kinds: [...Array(12).fill("quick"), ...Array(5).fill("slow"), ...Array(3).fill("long"), "escape", "fail", "greedy"] as string[],
  cancelProbability: 0.03,
  answerMs: 3000,
});

/** Runs nodes on a new database under load while the scenario happens to them, and checks all guarantees at the end. */
export async function runScenario(options: ClusterRunOptions): Promise<ClusterReport> {
  const { server, scenario, seed, extent, program = {}, onStep = () => {} } = options;
  const leaseSeconds = scenario.leaseSeconds ?? options.leaseSeconds;
  const isLeaseShort = leaseSeconds < LONG_LEASE_SECONDS;
  const violations: string[] = [];
  const onViolation = (violation: string): void => void violations.push(`${scenario.name}: ${violation}`);
  const figures: Record<string, number> = {};
  const count = (figure: string, by = 1): void => {
    figures[figure] = (figures[figure] ?? 0) + by;
  };
  const random = createRandom(seed);
  const names = Array.from({ length: scenario.nodes ?? options.nodes }, (_, index) => `n${index + 1}`);
  const installation = createInstallation(names, MAX_CONCURRENT);
  const { tenants } = installation;
  const database = await createEmptyDatabase(server);
  const phases = createPhaseCounter();
  const deliveredSeenAt = new Map<string, number>();
  let order = 0;
  const receiver = await startCallbackReceiver({ nextOrder: () => order++, onCallback: () => phases.record("callback") });
  const nodes: ClusterNode[] = [];
  for (const [index, name] of names.entries()) {
    nodes.push(
      await createClusterNode({
        name,
        dataDir: installation.dataDirs[index] as string,
        databasePort: server.port,
        urlAt: database.urlAt,
        environment: {
          ...installation.environment,
          BRIDGE_LEASE_SECONDS: String(leaseSeconds),
          BRIDGE_SANDBOX: "off",
          BRIDGE_DRAIN_SECONDS: "5",
          ...scenario.environment,
          ...scenario.environmentOf?.(index),
        },
        program: { ...program, ...scenario.programOf?.(index) },
      }),
    );
  }
  const sampler = startSampler(() => database.urlAt(server.port), MAX_CONCURRENT);
  const spending = startSpendingWatch({
    url: () => database.urlAt(server.port),
    budgets: installation.budgets,
    scale: (names.length * MAX_CONCURRENT) / BUDGETED_SLOTS,
  });
  // Each actor has a separate random generator, so that the timing of one does not change the plan of another.
  const orchestrator = createOrchestrator({
    random: createRandom(seed + 1),
    tenants,
    callbackOrigin: receiver.origin,
    load: { ...createLoad(names.length), ...scenario.load },
    onDispatch: () => phases.record("dispatch"),
    onViolation,
  });
  const addresses = (): string[] => nodes.flatMap(({ address }) => (address === null ? [] : [address]));
  const pickAddress = (): string | null => (addresses().length === 0 ? null : random.pick(addresses()));
  const followers = tenants.flatMap((tenant, row) =>
    Array.from({ length: FOLLOWERS_PER_TENANT }, (_, column) =>
      createMovingFollower({
        tenant,
        random: createRandom(seed + 2 + row * FOLLOWERS_PER_TENANT + column),
        pickAddress,
        mayLoseIds: scenario.mayLoseEventIds ?? false,
        onEvent: (event) => observe(tenant.tenant, event),
        onViolation,
      }),
    ),
  );

  function observe(tenant: string, { type, taskId }: EventEnvelope): void {
    const key = taskKey(tenant, taskId);
    if (type === "execution.completed" || type === "execution.failed") orchestrator.onEnded(key);
    else if (type !== "callback.delivered") phases.record("run");
    else if (!deliveredSeenAt.has(key)) deliveredSeenAt.set(key, order++);
  }

  async function expectSoon(what: string, condition: () => boolean | Promise<boolean>, limitMs = EXPECT_LIMIT_MS): Promise<void> {
    if (!(await until(async () => (await errorless(condition)) === true, limitMs))) onViolation(what);
  }

  const cluster: Cluster = {
    nodes,
    server,
    root: program.root ?? repository,
    tenants,
    orchestrator,
    readJournals: installation.readJournals,
    sampler,
    random,
    leaseMs: leaseSeconds * 1000,
    callbackOrigin: receiver.origin,
    query: database.query,
    times: (full) => Math.max(1, Math.round(full * extent)),
    reach: async (phase, occurrence) => void (await phases.reach(phase, occurrence, PHASE_LIMIT_MS)),
    expectSoon,
    onViolation,
    count,
  };

  /** A stream can only be resumed after an event, so the first events come before the first fault. */
  async function begin(): Promise<void> {
    if (scenario.start === undefined) await Promise.all(nodes.map((node) => node.start()));
    else await scenario.start(cluster);
    await Promise.all(followers.map((follower) => follower.start()));
    for (const tenant of tenants) await orchestrator.dispatchOne(pickAddress() ?? "", tenant);
    await expectSoon("events: the followers receive no event", () => followers.every(({ events }) => events.length > 0));
  }

  /** Ends all faults and waits until all tasks and callbacks have ended. */
  async function settle(): Promise<{ results: Map<string, unknown>; leftProcesses: number[] }> {
    for (const node of nodes) {
      node.proxy.pass();
      node.life?.signal("SIGCONT");
    }
    await Promise.all(nodes.map((node) => node.address ?? node.start()));
    const address = nodes[0]?.address ?? "";
    await expectSoon("ready: a node does not become ready again", async () => {
      const answers = await Promise.all(addresses().map((each) => fetch(`${each}/readyz`)));
      return answers.length === nodes.length && answers.every(({ status }) => status === 200);
    });
    onStep("repeat all dispatches");
    await orchestrator.repeatAll(address);
    onStep("wait until all tasks and callbacks have ended");
    await expectSoon("task: not all tasks and callbacks have ended", () => isCalm(address, tenants), SETTLE_LIMIT_MS);
    onStep("wait until no process is left");
    const leftProcesses = () => installation.dataDirs.flatMap(findRuntimeProcesses);
    await until(() => leftProcesses().length === 0, SWEEP_LIMIT_MS);
    const results = await readResults(address, orchestrator.tasks);
    onStep("wait for the followers");
    const { events } = await readPostgresState(database.urlAt(server.port));
    for (const follower of followers) await follower.finish(events.filter(({ tenant }) => tenant === follower.tenant).length);
    return { results, leftProcesses: leftProcesses() };
  }

  async function stopAll(): Promise<void> {
    for (const node of nodes) for (const code of node.takeExits()) onViolation(`process: ${node.name} ended by itself with code ${code}`);
    const codes = await Promise.all(nodes.map((node) => node.stop()));
    for (const [index, code] of codes.entries()) if (code !== 0) onViolation(`process: ${nodes[index]?.name} stopped with code ${code}`);
    for (const line of nodes.flatMap((node) => node.errorLines()))
      if (scenario.expectedErrors?.test(line) !== true && !(isLeaseShort && LOST_LEASE.test(line))) onViolation(`log: ${line}`);
  }

  try {
    onStep("start the nodes");
    await begin();
    onStep("run the scenario");
    const over = new AbortController();
    const loadBalancer = scenario.usesLoadBalancer === true ? startLoadBalancer(nodes) : null;
    const working = orchestrator.work(loadBalancer?.next ?? pickAddress, over.signal);
    await scenario.act(cluster);
    onStep("stop the load");
    over.abort();
    await working;
    await loadBalancer?.close();
    onStep("end all faults");
    const { results, leftProcesses } = await settle();
    onStep("stop the nodes");
    await stopAll();
    onStep("check");
    await sampler.close();
    await spending.finish();
    const stored = await readPostgresState(database.urlAt(server.port));
    const { tasks: dispatched } = orchestrator;
    const { callbacks } = receiver;
    const seen = { stored, dispatched, followers, callbacks, deliveredSeenAt, journals: installation.readJournals(), results };
    const minCompleted = scenario.minCompleted ?? 0.6;
    for (const violation of checkCluster({ ...seen, sampled: sampler, leftProcesses, minCompleted })) onViolation(violation);
    for (const violation of spending.violations) onViolation(violation);
    const completed = stored.tasks.filter(({ state }) => state === "completed").length;
    count("tasks", stored.tasks.length);
    count("events", stored.events.length);
    count("callbacks", callbacks.length);
    count("completedPercent", Math.round((100 * completed) / Math.max(1, stored.tasks.length)));
    count("samples", sampler.count);
    count("heldByBudgets", spending.mostHeld);
    count(
      "moves",
      followers.reduce((sum, { resumptions }) => sum + resumptions, 0),
    );
    count(
      "gaps",
      followers.reduce((sum, { gaps }) => sum + gaps, 0),
    );
    for (const [name, value] of Object.entries(orchestrator.figures)) count(name, value);
    for (const [code, value] of orchestrator.refusals) count(`refused ${code}`, value);
    return { violations, figures };
  } finally {
    await sampler.close();
    await spending.close();
    for (const follower of followers) follower.close();
    for (const node of nodes) await node.close();
    await receiver.close();
    await installation.remove();
    await database.drop();
  }
}

/** Returns undefined instead of an error, because a condition is asked again. */
async function errorless<T>(ask: () => T | Promise<T>): Promise<T | undefined> {
  try {
    return await ask();
  } catch {
    return undefined;
  }
}

interface EmptyDatabase {
  urlAt(port: number): string;
  query<Row extends object>(text: string, values?: readonly unknown[]): Promise<Row[]>;
  drop(): Promise<void>;
}

async function createEmptyDatabase(server: PostgresCluster): Promise<EmptyDatabase> {
  const name = `cluster_${randomBytes(6).toString("hex")}`;
  const run = async <Row extends object>(database: string, text: string, values: readonly unknown[] = []): Promise<Row[]> => {
    const client = new Client(server.urlOf(database));
    await client.connect();
    try {
      return (await client.query<Row>(text, [...values])).rows;
    } finally {
      await client.end();
    }
  };
  await run("postgres", `CREATE DATABASE ${name} TEMPLATE template0`);
  return {
    urlAt: (port) => server.urlOf(name, port),
    query: (text, values) => run(name, text, values),
    drop: async () => void (await run("postgres", `DROP DATABASE ${name} WITH (FORCE)`)),
  };
}
