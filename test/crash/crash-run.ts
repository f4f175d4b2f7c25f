import { setTimeout as delay } from "node:timers/promises";
import type { EventEnvelope } from "#contract";
import { scaled } from "../harness/machine.ts";
import { until } from "../support/until.ts";
import { type BridgeProcess, startBridge } from "./bridge-process.ts";
import { startCallbackReceiver } from "./callback-receiver.ts";
import { checkGuarantees, checkKills, type Moment } from "./checker.ts";
import { type CrashDatabase, type DatabaseFault, openSqliteDatabase } from "./crash-database.ts";
import { createFollower } from "./follower.ts";
import { createInstallation } from "./installation.ts";
import { findRuntimeProcesses } from "./leftover-processes.ts";
import { createOrchestrator, taskKey } from "./orchestrator.ts";
import { createPhaseCounter, type Phase } from "./phase-counter.ts";
import { planRounds, type Round } from "./plan-rounds.ts";
import { createRandom } from "./random.ts";
import { isCalm, readResults } from "./read-api.ts";
import { checkReleased, checkSpending, countHeld } from "./spending-checker.ts";
import type { StoredState, StoredTask } from "./stored-state.ts";

export interface CrashOptions {
  rounds: number;
  /** Determines the dispatches and the time of each kill. The rest depends on the operating system. */
  seed: number;
  /** Opens the database of the run. Default: the SQLite file of Bridge. */
  openDatabase?(databaseFile: string): CrashDatabase | Promise<CrashDatabase>;
  onRound?(line: string): void;
}

/** Result of a run. */
export interface CrashReport {
  /** Violated guarantees. Those of durability begin with `durability`. */
  violations: string[];
  figures: Record<string, number>;
}

/** A limit for hangs only: a kill waits for its moment, also on a slow machine. */
const MOMENT_LIMIT_MS = 30_000;
const REFILL_INTERVAL_MS = 3000;
const SETTLE_LIMIT_MS = 60_000;
/** Time limit of the sweep, because a task ends before the last of its processes is killed. */
const SWEEP_LIMIT_MS = 5000;

/** Kills Bridge repeatedly while it runs tasks, and checks at the end that nothing accepted was lost, duplicated or changed. */
export async function runCrashTest(options: CrashOptions): Promise<CrashReport> {
  const { rounds, seed, openDatabase = openSqliteDatabase, onRound = () => {} } = options;
  const installation = createInstallation();
  const { dataDir, tenants, budgets } = installation;
  const database = await openDatabase(installation.databaseFile);
  const environment = { ...installation.environment, ...database.environment };
  const violations: string[] = [];
  const onViolation = (violation: string): void => void violations.push(violation);
  const phaseCounter = createPhaseCounter();
  const kills: Record<Phase, number> = { dispatch: 0, run: 0, callback: 0, recovery: 0 };
  const moments: Moment[] = [];
  const strikes: Record<DatabaseFault, number> = { crash: 0, sessions: 0 };
  const deliveredSeenAt = new Map<string, number>();
  let order = 0;
  let startupMs = 1000;
  let runtimesLeftByKills = 0;
  let tasksHeldAtKills = 0;
  let life: BridgeProcess = startBridge(environment);

  const receiver = await startCallbackReceiver({ nextOrder: () => order++, onCallback: () => phaseCounter.record("callback") });
  // Each actor has a separate random generator, so that the timing of one does not change the plan of another.
  const orchestrator = createOrchestrator({
    random: createRandom(seed + 1),
    tenants,
    callbackOrigin: receiver.origin,
    onDispatch: () => phaseCounter.record("dispatch"),
    onViolation,
  });
  const mayRefuse = (status: number): boolean => status === 503 && database.faults.length > 0;
  const followers = tenants.map((tenant) =>
    createFollower({ tenant, mayRefuse, onEvent: (event) => observe(tenant.tenant, event), onViolation }),
  );

  function observe(tenant: string, { type, taskId }: EventEnvelope): void {
    const key = taskKey(tenant, taskId);
    if (type === "execution.completed" || type === "execution.failed") orchestrator.onEnded(key);
    else if (type === "callback.delivered") deliveredSeenAt.set(key, order++);
    else phaseCounter.record("run");
  }

  async function connect(): Promise<{ address: string; ended: Promise<unknown> }> {
    const address = await life.address;
    const streams = followers.map((follower) => follower.follow(address));
    await Promise.all(streams.map((stream) => stream.connected));
    return { address, ended: Promise.all(streams.map((stream) => stream.ended)) };
  }

  /** While the database is unavailable, Bridge logs that. */
  function reportErrorLines(): void {
    const lines = database.faults.length > 0 ? life.errorLines.filter((line) => !isStorageFault(line)) : life.errorLines;
    violations.push(...lines.map((line) => `log: ${line}`));
  }

  async function kill(phase: Phase): Promise<void> {
    await life.kill();
    kills[phase] += 1;
    reportErrorLines();
    runtimesLeftByKills += findRuntimeProcesses(dataDir).length;
  }

  /** Checks what budgets count, and gives them room for the next process. */
  async function checkBudgets(): Promise<void> {
    const stored = await database.readSpending();
    violations.push(...checkSpending(stored, budgets.maxima()));
    tasksHeldAtKills += countHeld(stored, budgets.maxima());
    budgets.forgetMaxima();
    budgets.refill(stored.periods);
  }

  /** The first process ends after its first event, because a stream can only be resumed after an event. */
  async function begin(): Promise<void> {
    const { address, ended } = await connect();
    for (const tenant of tenants) await orchestrator.dispatchOne(address, tenant);
    await until(() => followers.every((follower) => follower.events.length > 0), SETTLE_LIMIT_MS);
    await kill("run");
    await ended;
  }

  /** Runs one Bridge process until its planned kill. */
  async function live(round: Round): Promise<void> {
    const startedAt = performance.now();
    life = startBridge(environment);
    if (round.phase === "recovery") {
      await delay(round.delay * startupMs);
      await kill("recovery");
      return;
    }
    const { address, ended } = await connect();
    startupMs = performance.now() - startedAt;
    const over = new AbortController();
    const working = orchestrator.work(() => address, over.signal);
    const struck = round.fault === null ? null : await strike(round.fault);
    moments.push({ phase: round.phase, isReached: await reach(round.phase, round.occurrence) });
    if (round.delay > 0) await delay(round.delay);
    await kill(round.phase);
    over.abort();
    await Promise.all([working, ended, struck?.done]);
  }

  /** Canceled tasks without a report count as estimates, which would use up the room of all others before the moment. */
  async function reach(phase: Phase, occurrence: number): Promise<boolean> {
    const refill = async (): Promise<void> => budgets.refill((await database.readSpending()).periods);
    // While the database is down, nothing can be read.
    const refilling = setInterval(() => void refill().catch(() => {}), REFILL_INTERVAL_MS);
    const isReached = await phaseCounter.reach(phase, occurrence, scaled(MOMENT_LIMIT_MS));
    clearInterval(refilling);
    return isReached;
  }

  /** Resolves when the fault begins, so that Bridge can be killed during it. */
  async function strike({ kind, occurrence }: NonNullable<Round["fault"]>): Promise<{ done: Promise<void> }> {
    await reach("run", occurrence);
    strikes[kind] += 1;
    return { done: database.strike(kind) };
  }

  /** Runs the last Bridge process until all tasks and callbacks have ended, and shuts it down. */
  async function settle(): Promise<Map<string, unknown>> {
    life = startBridge(environment);
    const { address, ended } = await connect();
    await orchestrator.repeatAll(address);
    const isSettled = async (): Promise<boolean> => {
      if (await isCalm(address, tenants)) return true;
      budgets.refill((await database.readSpending()).periods);
      return false;
    };
    if (!(await until(isSettled, SETTLE_LIMIT_MS))) onViolation(`task: not all have ended after ${SETTLE_LIMIT_MS / 1000} s`);
    if (!(await until(() => findRuntimeProcesses(dataDir).length === 0, SWEEP_LIMIT_MS)))
      onViolation("process: runtimes are left after the last start");
    const results = await readResults(address, orchestrator.tasks);
    const exitCode = await life.stop();
    await ended;
    if (exitCode !== 0) onViolation(`process: Bridge stopped with code ${exitCode}`);
    reportErrorLines();
    return results;
  }

  try {
    await begin();
    await checkBudgets();
    for (const [index, round] of planRounds(rounds, createRandom(seed), database.faults).entries()) {
      await live(round);
      await checkBudgets();
      await database.onKilled();
      const { phase, occurrence, delay: after, fault } = round;
      const seen = `${orchestrator.tasks.size} tasks, ${receiver.callbacks.length} callbacks, ${violations.length} violations`;
      onRound(
        `round ${index + 1}: killed in ${phase} (moment ${occurrence}, +${after.toFixed(2)}, ${fault?.kind ?? "no fault"}); so far ${seen}`,
      );
    }
    const results = await settle();
    const stored = await database.readState();
    await checkBudgets();
    violations.push(...checkReleased(await database.readSpending()));
    const journals = installation.readJournals();
    const killed = Object.values(kills).reduce((sum, count) => sum + count, 0);
    const { tasks: dispatched } = orchestrator;
    const evidence = { stored, dispatched, followers, callbacks: receiver.callbacks, deliveredSeenAt, journals, results };
    const { maxConcurrent } = installation;
    violations.push(...checkGuarantees(evidence), ...checkKills(evidence, { kills: killed, maxConcurrent, moments }));
    const figures = {
      kills: killed,
      ...Object.fromEntries(Object.entries(kills).map(([phase, count]) => [`kills in ${phase}`, count])),
      momentsMissed: moments.filter(({ isReached }) => !isReached).length,
      ...(database.faults.length > 0 && { "crashes of the server": strikes.crash, "lost sessions": strikes.sessions }),
      ...countTasks(stored),
      streamsResumed: followers.reduce((sum, follower) => sum + follower.resumptions, 0),
      callbacks: receiver.callbacks.length,
      ...orchestrator.figures,
      runtimesLeftByKills,
      tasksHeldAtKills,
    };
    return { violations, figures };
  } finally {
    await life.kill();
    await receiver.close();
    await installation.remove();
    await database.close();
  }
}

/** A line that is not JSON is the last output of a Bridge that has ended by itself. */
const isStorageFault = (line: string): boolean => {
  if (!line.startsWith("{")) return false;
  const { msg, err } = JSON.parse(line) as { msg?: string; err?: { code?: string } };
  return msg === "database read or write failed" || err?.code === "storage_unavailable";
};

function countTasks({ tasks, events }: StoredState): Record<string, number> {
  const count = (test: (task: StoredTask) => boolean): number => tasks.filter(test).length;
  return {
    tasks: tasks.length,
    completed: count((task) => task.state === "completed"),
    failedByRestart: count((task) => task.result?.errorCode === "bridge_restarted"),
    failedByRuntime: count((task) => task.result?.errorCode === "runtime_crashed"),
    cancelled: count((task) => task.state === "cancelled"),
    stoppedByBudgets: count((task) => task.result?.errorCode === "budget_exceeded"),
    retried: count((task) => task.restarts > 0),
    events: events.length,
  };
}
