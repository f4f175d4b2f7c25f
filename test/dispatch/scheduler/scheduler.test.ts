import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { LaneTask } from "../../../src/dispatch/scheduler/lane-task.ts";
import type { SchedulerLimits } from "../../../src/dispatch/scheduler/lanes.ts";
import { createScheduler } from "../../../src/dispatch/scheduler/scheduler.ts";
import type { Claim } from "../../../src/dispatch/scheduler/slots.ts";
import type { ClaimFilter } from "../../../src/store/tasks/interface.ts";
import type { TenantQuota } from "../../../src/task.ts";
import { unlimitedQuota } from "../engine.ts";

interface SimulatedTask extends LaneTask {
  seq: number;
  session: string | null;
}

const TENANTS = ["A", "B", "C"];

const kindOf = (task: LaneTask): ClaimFilter["kind"] => (task.parentTaskId === null ? "dispatched" : "child");

/** Lanes with a list as the store, and a simple specification of which tasks may start. */
function simulate({
  inTurn = true,
  ...limits
}: Partial<SchedulerLimits> & { quotas?: Record<string, Partial<TenantQuota>>; inTurn?: boolean } = {}) {
  const quotas: Record<string, Partial<TenantQuota>> = { ...limits.quotas };
  const quotaOf = (tenant: string): TenantQuota => ({ ...unlimitedQuota, ...quotas[tenant] });
  const slots = limits.maxConcurrent ?? (() => 2);
  const queueLimit = limits.queueLimit ?? 1_000_000;
  const scheduler = createScheduler({ maxConcurrent: slots, quotaOf, ownNode: "", ...limits, queueLimit });
  const queued: SimulatedTask[] = [];
  const running: SimulatedTask[] = [];
  const started: SimulatedTask[] = [];
  /** The adapters whose slots running tasks have after they have left their own; null while they wait. */
  const moved = new Map<SimulatedTask, LaneTask>();
  const withoutSlot = new Set<SimulatedTask>();
  let writes: (() => () => void)[] = [];
  let seq = 0;
  let childrenOnly = false;
  let haveQuotasChanged = false;
  let startedOnArrival = 0;

  const isSessionFree = (task: SimulatedTask): boolean =>
    task.session === null ||
    !running.some(
      ({ provider, tenant, agentId, session }) =>
        provider === task.provider && tenant === task.tenant && agentId === task.agentId && session === task.session,
    );

  function mayStart(task: SimulatedTask): boolean {
    if (!isSessionFree(task)) return false;
    if (kindOf(task) === "child") return true;
    const { maxRunning, agentMaxRunning } = quotaOf(task.tenant);
    const ofTenant = running.filter((other) => other.tenant === task.tenant && kindOf(other) === "dispatched");
    const ofAgent = ofTenant.filter(({ agentId }) => agentId === task.agentId);
    return !childrenOnly && ofTenant.length < (maxRunning ?? Infinity) && ofAgent.length < (agentMaxRunning ?? Infinity);
  }

  /** When all tenants together reach the limit, a tenant is rejected from its fair share on. */
  function findFullQueue(tenant: string): "bridge" | null {
    const waitingOf = (name: string): number => queued.filter((task) => task.tenant === name && kindOf(task) === "dispatched").length;
    const weightOf = (name: string): number => quotaOf(name).weight;
    if (TENANTS.reduce((sum, name) => sum + waitingOf(name), 0) < queueLimit) return null;
    const others = TENANTS.filter((name) => name !== tenant && waitingOf(name) > 0).reduce((sum, name) => sum + weightOf(name), 0);
    return waitingOf(tenant) >= (queueLimit * weightOf(tenant)) / (weightOf(tenant) + others) ? "bridge" : null;
  }

  /** The adapter whose slot a running task has; undefined if it waits for one. */
  const slotOf = (task: SimulatedTask): string | undefined => (withoutSlot.has(task) ? undefined : (moved.get(task) ?? task).provider);

  const loadOf = (tenant: string, provider: string): number =>
    running.filter((task) => task.tenant === tenant && slotOf(task) === provider).length / quotaOf(tenant).weight;

  /** The task that the store starts for a claim, or null. */
  function start({ filter: { provider, tenant, kind, exceptAgents } }: Claim): SimulatedTask | null {
    const own = (task: SimulatedTask): boolean => task.tenant === tenant && kindOf(task) === kind && task.provider === provider;
    const task = queued.find((one) => own(one) && isSessionFree(one) && !exceptAgents.includes(one.agentId));
    if (task === undefined) return null;
    // A lowered limit does not stop a claim in progress.
    expect(mayStart(task) || haveQuotasChanged).toBe(true);
    queued.splice(queued.indexOf(task), 1);
    running.push(task);
    started.push(task);
    return task;
  }

  /** The tenant has the fewest running tasks for its weight. Its children start first, then its oldest task. */
  function startInTurn(claim: Claim): SimulatedTask | null {
    const { provider, tenant } = claim.filter;
    const eligible = queued.filter((task) => task.provider === provider && mayStart(task));
    const loads = eligible.map((task) => loadOf(task.tenant, provider));
    const load = loadOf(tenant, provider);
    const mine = eligible.filter((task) => task.tenant === tenant);
    const task = start(claim);
    if (task === null) return null;
    expect(load).toBe(Math.min(...loads));
    expect(task).toBe(mine.find((other) => kindOf(other) === "child") ?? mine[0]);
    return task;
  }

  const answer = (claim: Claim, task: SimulatedTask | null): void =>
    fillAll(task === null ? scheduler.withdrawClaim(claim) : scheduler.confirmStart(claim, task));

  function fill(provider: string): void {
    for (const task of withoutSlot) {
      const next = moved.get(task) as LaneTask;
      if (next.provider === provider && scheduler.enterSlot(next)) withoutSlot.delete(task);
    }
    for (let claim = scheduler.claimSlot(provider); claim !== null; claim = scheduler.claimSlot(provider)) take(claim);
  }

  function take(claim: Claim): void {
    if (inTurn) answer(claim, startInTurn(claim));
    else {
      write(() => {
        const task = start(claim);
        return () => answer(claim, task);
      });
    }
  }

  /** The write that stores the task starts it too. Without overlaps, it is the task that the claim would have found. */
  function startOnArrival(task: SimulatedTask, claim: Claim): void {
    startedOnArrival += 1;
    write(() => {
      queued.push(task);
      if (inTurn) expect(startInTurn(claim)).toBe(task);
      else {
        expect(mayStart(task) || haveQuotasChanged).toBe(true);
        queued.pop();
        running.push(task);
        started.push(task);
      }
      return () => answer(claim, task);
    });
  }

  function fillAll(providers: Iterable<string>): void {
    for (const provider of providers) fill(provider);
  }

  /** Runs the operation now or in the next commit, and the function that it returns after the commit. */
  function write(operation: () => () => void): void {
    if (inTurn) operation()();
    else writes.push(operation);
  }

  return {
    scheduler,
    queued,
    running,
    started,
    /** Number of the tasks that started without waiting in the queue. */
    startedOnArrival: () => startedOnArrival,
    /** Tenants of the tasks in the order of their starts. */
    order: () => started.map(({ tenant }) => tenant).join(""),
    enqueue(task: Partial<Omit<SimulatedTask, "seq">> = {}) {
      seq += 1;
      const waiting = { tenant: "A", agentId: "agent", provider: "p", parentTaskId: null, session: null, ...task, seq };
      scheduler.addQueued(waiting);
      const claim = scheduler.claimSlot(waiting.provider);
      if (claim !== null && waiting.session === null && scheduler.isClaimFor(claim, waiting)) startOnArrival(waiting, claim);
      else {
        write(() => {
          queued.push(waiting);
          return () => {};
        });
        if (claim !== null) take(claim);
      }
      fill(waiting.provider);
    },
    end(task: SimulatedTask | undefined = running[0]) {
      if (task === undefined) return;
      write(() => {
        const index = running.indexOf(task);
        if (index !== -1) running.splice(index, 1);
        return () => {
          if (index === -1) return;
          const freed = withoutSlot.delete(task) ? [] : scheduler.leaveSlot(moved.get(task) ?? task);
          fillAll([...freed, ...scheduler.endRun(task)]);
        };
      });
    },
    /** The task goes on with another adapter, and waits for a slot of it without keeping its own. */
    move(task: SimulatedTask | undefined, provider: string) {
      if (task === undefined || withoutSlot.has(task)) return;
      const left = moved.get(task) ?? task;
      moved.set(task, { ...task, provider });
      withoutSlot.add(task);
      fillAll(scheduler.leaveSlot(left));
      fill(provider);
    },
    cancel(task: SimulatedTask | undefined) {
      if (task === undefined) return;
      write(() => {
        const index = queued.indexOf(task);
        if (index !== -1) queued.splice(index, 1);
        return () => {
          if (index !== -1) scheduler.removeQueued(task);
        };
      });
    },
    setQuota(tenant: string, quota: Partial<TenantQuota>) {
      quotas[tenant] = quota;
      haveQuotasChanged = !inTurn;
      scheduler.reloadQuotas();
      fillAll(Array.from(scheduler.listLanes(), ({ provider }) => provider));
    },
    startChildrenOnly() {
      childrenOnly = true;
      scheduler.startChildrenOnly();
    },
    /** Commits the waiting writes, and those that follow from them. */
    commit() {
      while (writes.length > 0) {
        const batch = writes;
        writes = [];
        for (const answerWrite of batch.map((operation) => operation())) answerWrite();
      }
    },
    /** No slot is free while a task may start, and the counts are right. */
    check() {
      for (const { provider, running: taken, queued: waiting, maxConcurrent } of scheduler.listLanes()) {
        expect(taken).toBe(running.filter((task) => slotOf(task) === provider).length);
        expect(waiting).toBe(queued.filter((task) => task.provider === provider).length);
        expect(taken).toBeLessThanOrEqual(maxConcurrent);
        if (taken < maxConcurrent) expect([...withoutSlot].filter((task) => moved.get(task)?.provider === provider)).toEqual([]);
        if (taken < maxConcurrent) expect(queued.filter((task) => task.provider === provider && mayStart(task))).toEqual([]);
      }
      for (const tenant of TENANTS) expect(scheduler.findFullQueue({ tenant, agentId: "x" })).toBe(findFullQueue(tenant));
    },
  };
}

const anyTask = fc.record({
  tenant: fc.constantFrom("A", "B", "C"),
  agentId: fc.constantFrom("x", "y"),
  provider: fc.constantFrom("p", "q"),
  parentTaskId: fc.option(fc.constant("parent"), { nil: null, freq: 4 }),
  session: fc.option(fc.constantFrom("s", "t"), { nil: null, freq: 3 }),
});
const anyLimit = fc.option(fc.integer({ min: 1, max: 3 }), { nil: null });
const anyQuota = fc.record({ weight: fc.constantFrom(1, 2, 0.5), maxRunning: anyLimit, agentMaxRunning: anyLimit });
const anyAction = fc.oneof(
  { weight: 5, arbitrary: fc.record({ do: fc.constant("enqueue" as const), task: anyTask }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant("end" as const), index: fc.nat(20) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("cancel" as const), index: fc.nat(20) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("move" as const), index: fc.nat(20), provider: fc.constantFrom("p", "q") }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("quota" as const), tenant: fc.constantFrom("A", "B", "C"), quota: anyQuota }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("commit" as const) }) },
);
const anyCase = fc.record({
  slots: fc.integer({ min: 1, max: 4 }),
  quotas: fc.record({ A: anyQuota, B: anyQuota, C: anyQuota }),
  actions: fc.array(anyAction, { maxLength: 80, size: "max" }),
});

type Case = typeof anyCase extends fc.Arbitrary<infer Given> ? Given : never;

function runCase({ slots, quotas, actions }: Case, { inTurn }: { inTurn: boolean }): void {
  const simulation = simulate({ maxConcurrent: () => slots, queueLimit: 3, quotas, inTurn });
  const { queued, running, started } = simulation;
  for (const action of actions) {
    if (action.do === "enqueue") simulation.enqueue(action.task);
    else if (action.do === "end") simulation.end(running[action.index % Math.max(running.length, 1)]);
    else if (action.do === "cancel") simulation.cancel(queued[action.index % Math.max(queued.length, 1)]);
    else if (action.do === "move") simulation.move(running[action.index % Math.max(running.length, 1)], action.provider);
    else if (action.do === "quota") simulation.setQuota(action.tenant, action.quota);
    else simulation.commit();
    if (inTurn) simulation.check();
  }
  simulation.commit();
  simulation.check();
  while (running.length > 0) {
    simulation.end();
    simulation.commit();
    simulation.check();
  }
  expect(queued).toEqual([]);
  expect(new Set(started).size).toBe(started.length);
}

describe("the next task", () => {
  test("the next task is of the tenant with the fewest running tasks by weight, children first and then the oldest, within all limits and sessions", () => {
    fc.assert(
      fc.property(anyCase, (given) => runCase(given, { inTurn: true })),
      { numRuns: 300 },
    );
  });

  test("the next task starts exactly once, and no slot stays free, when claims, arrivals, ends and cancellations overlap", () => {
    fc.assert(
      fc.property(anyCase, (given) => runCase(given, { inTurn: false })),
      { numRuns: 300 },
    );
  });

  test("the next task starts on arrival if a slot is free and no other task waits for it, and waits in the queue otherwise", () => {
    const simulation = simulate({ maxConcurrent: () => 2, inTurn: false });
    simulation.enqueue();
    simulation.enqueue();
    simulation.enqueue();
    simulation.commit();
    expect({ running: simulation.running.length, onArrival: simulation.startedOnArrival() }).toEqual({ running: 2, onArrival: 2 });
    simulation.end();
    simulation.commit();
    // The free slot went to the task that waited.
    expect({ queued: simulation.queued.length, onArrival: simulation.startedOnArrival() }).toEqual({ queued: 0, onArrival: 2 });
    simulation.check();
  });

  test("the next task does not start on arrival while an older task of its tenant waits for its session or for the limit of its agent", () => {
    for (const { quota, older } of [
      { quota: {}, older: { session: "s" } },
      { quota: { agentMaxRunning: 1 }, older: {} },
    ]) {
      const simulation = simulate({ maxConcurrent: () => 9, quotas: { A: quota } });
      simulation.enqueue({ agentId: "busy", session: "s" });
      simulation.enqueue({ agentId: "busy", ...older });
      simulation.enqueue({ agentId: "other" });
      expect({ waiting: simulation.queued.length, onArrival: simulation.startedOnArrival() }).toEqual({ waiting: 1, onArrival: 0 });
      simulation.check();
    }
  });

  test("a slot of a task that could not be stored is free again", () => {
    const { scheduler } = simulate({ maxConcurrent: () => 1 });
    const task = { tenant: "A", agentId: "agent", provider: "p", parentTaskId: null };
    for (const order of ["dequeued first", "slot first"]) {
      scheduler.addQueued(task);
      const claim = scheduler.claimSlot("p") as Claim;
      expect(scheduler.isClaimFor(claim, task), order).toBe(true);
      if (order === "dequeued first") scheduler.removeQueued(task);
      scheduler.withdrawClaim(claim);
      if (order === "slot first") scheduler.removeQueued(task);
      expect(scheduler.getLane("p")).toMatchObject({ running: 0, queued: 0 });
    }
  });

  test("a tenant that queues one task after 5,000 of another tenant is next, with one slot and with four", () => {
    for (const slots of [1, 4]) {
      const simulation = simulate({ maxConcurrent: () => slots });
      for (let count = 0; count < 5_000; count += 1) simulation.enqueue();
      for (let count = 0; count < 100; count += 1) simulation.end();
      simulation.enqueue({ tenant: "B" });
      simulation.end();
      expect(simulation.started.at(-1)?.tenant).toBe("B");
    }
  });

  test("on one slot tenants take turns in proportion to their weights, and no tenant waits longer than that", () => {
    const weights = fc.array(fc.integer({ min: 1, max: 5 }), { minLength: 2, maxLength: 5 });
    fc.assert(
      fc.property(weights, (given) => {
        const tenants = given.map((weight, index) => ({ name: String(index), weight }));
        const quotas = Object.fromEntries(tenants.map(({ name, weight }) => [name, { weight }]));
        const simulation = simulate({ maxConcurrent: () => 1, quotas });
        for (const { name } of tenants) for (let count = 0; count < 60; count += 1) simulation.enqueue({ tenant: name });
        const turnsOf = (name: string): number => simulation.started.filter(({ tenant }) => tenant === name).length;
        for (let starts = 1; starts <= 40; starts += 1) {
          for (const one of tenants) {
            for (const other of tenants) {
              // The bound of start-time fair queueing for tenants that always have a task in the queue.
              const difference = turnsOf(one.name) / one.weight - turnsOf(other.name) / other.weight;
              expect(difference).toBeLessThanOrEqual(1 / one.weight + 1 / other.weight);
            }
          }
          simulation.end();
        }
      }),
    );
  });

  test("a tenant whose queue was empty or held back gets no credit for that time", () => {
    const simulation = simulate({ maxConcurrent: () => 1, quotas: { B: { maxRunning: 1 } } });
    for (let count = 0; count < 40; count += 1) simulation.enqueue({ tenant: "A" });
    // B's only slot is occupied in another lane while A has 20 turns.
    simulation.enqueue({ tenant: "B", provider: "q" });
    for (let count = 0; count < 20; count += 1) simulation.enqueue({ tenant: "B" });
    for (let count = 0; count < 20; count += 1) simulation.end(simulation.running.find(({ tenant }) => tenant === "A"));
    simulation.end(simulation.running.find(({ tenant }) => tenant === "B"));
    simulation.started.length = 0;
    for (let count = 0; count < 10; count += 1) simulation.end();
    expect(simulation.order()).toBe("BABABABABA");
  });

  test("a tenant that returns after each of its tasks does not overtake tenants that wait", () => {
    const simulation = simulate({ maxConcurrent: () => 1 });
    for (const tenant of ["C", "D"]) for (let count = 0; count < 20; count += 1) simulation.enqueue({ tenant });
    simulation.started.length = 0;
    for (let count = 0; count < 12; count += 1) {
      if (!simulation.queued.some(({ tenant }) => tenant === "B") && simulation.running[0]?.tenant !== "B")
        simulation.enqueue({ tenant: "B" });
      simulation.end();
    }
    const turns = ["B", "C", "D"].map((name) => simulation.started.filter(({ tenant }) => tenant === name).length);
    expect(turns).toEqual([4, 4, 4]);
  });

  test("children start although the limit of their tenant is reached, so that no parent waits for itself", () => {
    const simulation = simulate({ quotas: { A: { maxRunning: 1, agentMaxRunning: 1 } } });
    simulation.enqueue({ provider: "composite" });
    simulation.enqueue();
    simulation.enqueue({ parentTaskId: "parent" });
    expect(simulation.running.map(({ provider, parentTaskId }) => [provider, parentTaskId])).toEqual([
      ["composite", null],
      ["p", "parent"],
    ]);
    expect(simulation.queued.map((task) => simulation.scheduler.isHeldByQuota(task))).toEqual([true]);
  });

  test("while Bridge drains only children start", () => {
    const simulation = simulate();
    simulation.startChildrenOnly();
    simulation.enqueue();
    simulation.enqueue({ parentTaskId: "parent" });
    expect(simulation.running.map(({ parentTaskId }) => parentTaskId)).toEqual(["parent"]);
    simulation.check();
  });

  test("tasks that wait for a session are not tried again before something has changed", () => {
    const simulation = simulate({ maxConcurrent: () => 4 });
    simulation.enqueue({ session: "s" });
    for (let count = 0; count < 10; count += 1) simulation.enqueue({ session: "s" });
    expect(simulation.scheduler.claimSlot("p")).toBeNull();
    simulation.enqueue({ tenant: "B" });
    expect(simulation.order()).toBe("AB");
    simulation.end();
    expect(simulation.order()).toBe("ABA");
  });
});

describe("the full queue", () => {
  const full = (simulation: ReturnType<typeof simulate>, tenant: string, agentId = "agent") =>
    simulation.scheduler.findFullQueue({ tenant, agentId });
  const fillQueue = (simulation: ReturnType<typeof simulate>, tenant: string, agentId = "agent") => {
    let count = 0;
    for (; full(simulation, tenant, agentId) === null; count += 1) simulation.enqueue({ tenant, agentId });
    return count;
  };

  test("the full queue can be filled by one tenant, and others still get their fair share of it", () => {
    const simulation = simulate({ queueLimit: 120, maxConcurrent: () => 0 });
    expect(fillQueue(simulation, "A")).toBe(120);
    expect(full(simulation, "A")).toBe("bridge");
    expect(fillQueue(simulation, "B")).toBe(60);
    expect(fillQueue(simulation, "C")).toBe(40);
    expect(["A", "B", "C"].map((tenant) => full(simulation, tenant))).toEqual(["bridge", "bridge", "bridge"]);
    expect(full(simulation, "D")).toBeNull();
  });

  test("the full queue is shared by weight, and each tenant may queue at least one task", () => {
    const simulation = simulate({ queueLimit: 4, maxConcurrent: () => 0, quotas: { B: { weight: 3 }, C: { weight: 0.1 } } });
    expect([fillQueue(simulation, "A"), fillQueue(simulation, "B"), fillQueue(simulation, "C")]).toEqual([4, 3, 1]);
  });

  test("the full queue is the one of the agent or tenant first, and running tasks and children do not count", () => {
    const simulation = simulate({ maxConcurrent: () => 1, quotas: { A: { queueLimit: 5, agentQueueLimit: 3 } } });
    simulation.enqueue();
    simulation.enqueue({ parentTaskId: "parent" });
    expect(fillQueue(simulation, "A", "x")).toBe(3);
    expect(full(simulation, "A", "x")).toBe("agent");
    expect(fillQueue(simulation, "A", "y")).toBe(2);
    expect([full(simulation, "A", "y"), full(simulation, "B", "x")]).toEqual(["tenant", null]);
  });

  test("the full queue is exceeded by many tenants together only by a bounded part", () => {
    const simulation = simulate({ queueLimit: 100, maxConcurrent: () => 0 });
    for (let tenant = 0; tenant < 1_000; tenant += 1) fillQueue(simulation, String(tenant));
    // The limit times 1 + 1/2 + 1/3 and so on, and one task for each tenant beyond that.
    expect(simulation.queued.length).toBeLessThan(100 * 5.2 + 1_000);
  });

  test("the full queue does not count a task that a claim takes", () => {
    const simulation = simulate({ maxConcurrent: (provider) => (provider === "q" ? 1 : 0), queueLimit: 4, inTurn: false });
    for (const tenant of ["A", "A", "B"]) simulation.enqueue({ tenant });
    simulation.enqueue({ tenant: "C", provider: "q" });
    expect(full(simulation, "A")).toBeNull();
    simulation.enqueue({ tenant: "B" });
    expect(full(simulation, "A")).toBe("bridge");
  });
});

test("a line that found no task can start one again when a reading of the store shows tasks", () => {
  const { scheduler } = simulate();
  const task = { tenant: "A", agentId: "agent", provider: "p", parentTaskId: null };
  scheduler.addQueued(task);
  const claim = scheduler.claimSlot("p");
  if (claim === null) throw new Error("No slot was claimed.");
  scheduler.withdrawClaim(claim);
  expect(scheduler.claimSlot("p")).toBeNull();
  scheduler.beginReading();
  scheduler.applyCounts([{ provider: "p", tenant: "A", agentId: "agent", queued: 1, startable: 1, isChild: false }]);
  expect(scheduler.claimSlot("p")).not.toBeNull();
});

test("a line whose claim found no task is not blocked if a task has arrived since the claim", () => {
  const { scheduler } = simulate();
  const task = { tenant: "A", agentId: "agent", provider: "p", parentTaskId: null };
  scheduler.addQueued(task);
  const claim = scheduler.claimSlot("p");
  if (claim === null) throw new Error("No slot was claimed.");
  scheduler.addQueued(task);
  scheduler.withdrawClaim(claim);
  expect(scheduler.claimSlot("p")).not.toBeNull();
});
