import { pino } from "pino";
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from "vitest";
import { createMembership, type MemberStore } from "../../src/cluster/membership.ts";
import { createMetrics } from "../../src/metrics.ts";
import type { ClusterNode, NewNode } from "../../src/store/nodes/interface.ts";

const LEASE_MS = 120_000;
const node: NewNode = { name: "n1", url: null, version: "0", tags: [], files: "local", settingsDigest: "", leaseMs: LEASE_MS };

beforeEach(() => void vi.useFakeTimers());
afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

/** A membership in a database whose answers the test decides. Its clock is that of the fake timers, plus `aheadMs`. */
async function startMember() {
  const database = { isAway: false, isExpelled: false, aheadMs: 0, dead: [] as string[], gone: [] as number[] };
  const startedAt = Date.now() - performance.now();
  const renewals: number[] = [];
  const calls: string[] = [];
  const logs: string[] = [];
  const away = (): void => {
    if (database.isAway) throw new Error("The database is away.");
  };
  const cluster: MemberStore = {
    async join() {},
    async renewLease() {
      renewals.push(performance.now());
      away();
      return database.isExpelled ? null : startedAt + performance.now() + database.aheadMs;
    },
    isAnswering: () => true,
    settleSharedFiles: async (directory) => directory,
    startDraining: async () => void calls.push("draining"),
    leave: async () => void calls.push("left"),
    async listNodes() {
      away();
      return [
        { ...node, state: "live", isAlive: true, agents: 0 },
        { ...node, state: "draining", isAlive: true, agents: 0 },
        { ...node, state: "live", isAlive: false, agents: 0 },
        ...database.gone.map((agents) => ({ ...node, state: "gone", isAlive: false, agents })),
      ] as unknown as ClusterNode[];
    },
    async takeExpiredNode() {
      away();
      calls.push("looked");
      const id = database.dead.pop();
      return id === undefined ? null : { id, name: id, files: "local" as const };
    },
    releaseNode: async (id) => void calls.push(`released ${id}`),
    async forgetUnusedNodes() {
      calls.push("forgot unused nodes");
      return 0;
    },
  };
  const metrics = createMetrics("test");
  const membership = createMembership({
    cluster,
    view: { self: { id: "n1", name: "n1", tags: [], files: "local" }, nodes: () => [], async refresh() {} },
    node,
    filesDir: "",
    report: () => ({ settingsDigest: "", adapters: [] }),
    onLost: (reason) => calls.push(reason),
    onRegained: () => calls.push("regained"),
    onExpelled: () => calls.push("expelled"),
    async endTasksOf({ id }) {
      calls.push(`ended ${id}`);
      return 1;
    },
    metrics,
    logger: pino({}, { write: (line) => void logs.push(JSON.parse(line).msg) }),
  });
  await membership.join(new AbortController().signal);
  onTestFinished(() => membership.leave());
  return { membership, database, renewals, calls, logs, metrics };
}

const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms);
/** The process does not run for this time: no timer fires, and then all that are due. */
async function stopProcess(ms: number): Promise<void> {
  const { now } = performance;
  const { now: wall } = Date;
  vi.spyOn(performance, "now").mockImplementation(() => now.call(performance) + ms);
  vi.spyOn(Date, "now").mockImplementation(() => wall() + ms);
  await pass(1_000);
}

/** The machine does not run: its monotonic clock stands still. Also what a change of the system clock looks like. */
async function moveWallClock(ms: number): Promise<void> {
  vi.setSystemTime(Date.now() + ms);
  await pass(1_000);
}

const reasons = (calls: readonly string[]): string[] => calls.filter((call) => call.startsWith("The node"));

test("the lease is renewed twelve times, and the database is trusted until two thirds of it have passed without an answer", async () => {
  const { database, renewals, calls, membership, metrics } = await startMember();
  await pass(LEASE_MS);
  expect(renewals.length).toBeGreaterThanOrEqual(12);
  database.isAway = true;
  await pass((LEASE_MS * 2) / 3 - 10_001);
  expect(reasons(calls)).toEqual([]);
  await expect(membership.checkInTouch()).rejects.toMatchObject({ code: "storage_unavailable" });
  await pass(12_000);
  expect(reasons(calls)).toEqual(["The node lost its database for 80 s."]);
  await pass(LEASE_MS);
  expect(reasons(calls)).toHaveLength(1);
  expect((await metrics.leaseAge.get()).values[0]?.value).toBeGreaterThan(120);
  database.isAway = false;
  await pass(11_000);
  expect(calls.filter((call) => call === "regained")).toHaveLength(1);
  await membership.checkInTouch();
});

test("a node that was stopped for longer than two thirds of its lease stops its tasks before it asks the database", async () => {
  const { calls, renewals } = await startMember();
  await pass(20_000);
  const before = renewals.length;
  renewals.push = (...times) => {
    calls.push("asked");
    return Array.prototype.push.apply(renewals, times);
  };
  await stopProcess(LEASE_MS);
  expect(calls.filter((call) => call !== "looked").slice(0, 2)).toEqual([
    expect.stringMatching(/^The node lost its database for 1[23]\d s/),
    "asked",
  ]);
  expect(renewals.length).toBeGreaterThan(before);
});

test("a jump of the system clock is no reason to stop tasks if the database answers", async () => {
  const { calls, renewals } = await startMember();
  await pass(1_000);
  for (const ms of [3_600_000, -3_600_000]) {
    const before = renewals.length;
    await moveWallClock(ms);
    expect(renewals.length).toBe(before + 1);
  }
  expect(reasons(calls)).toEqual([]);
});

test("after a suspension of the machine, a node that does not reach the database stops its tasks", async () => {
  const { calls, database } = await startMember();
  database.isAway = true;
  await moveWallClock(LEASE_MS);
  expect(reasons(calls)).toHaveLength(1);
});

test("a node that was declared dead reports it once, and renews its lease no more", async () => {
  const { calls, database, renewals, logs, membership } = await startMember();
  database.isExpelled = true;
  await pass(11_000);
  const count = renewals.length;
  await pass(LEASE_MS);
  expect(calls.filter((call) => call === "expelled")).toHaveLength(1);
  expect(renewals).toHaveLength(count);
  expect(logs).toContain("other nodes declared this node dead, because its lease was over");
  await membership.leave();
  expect(calls).not.toContain("left");
});

test("a node looks for dead nodes only after a whole lease of contact without a break", async () => {
  const { calls, database } = await startMember();
  const looks = () => calls.splice(0).includes("looked");
  await pass(LEASE_MS - 5_000);
  expect(looks()).toBe(false);
  await pass(15_000);
  expect(looks()).toBe(true);
  database.isAway = true;
  await pass(20_000);
  database.isAway = false;
  looks();
  await pass(LEASE_MS - 5_000);
  expect(looks()).toBe(false);
  await pass(20_000);
  expect(looks()).toBe(true);
  // All leases look as if they were over after a failover to a server whose clock is ahead.
  database.aheadMs = LEASE_MS;
  await pass(11_000);
  looks();
  await pass(LEASE_MS - 15_000);
  expect(looks()).toBe(false);
  await pass(20_000);
  expect(looks()).toBe(true);
});

test("a node that was stopped for a while does not look for dead nodes", async () => {
  const { calls } = await startMember();
  await pass(LEASE_MS + 10_000);
  expect(calls).toContain("looked");
  await stopProcess(LEASE_MS / 2);
  calls.splice(0);
  await pass(LEASE_MS / 2);
  expect(calls).toEqual([]);
});

test("the tasks of a dead node are ended before what it holds is released", async () => {
  const { calls, database, metrics } = await startMember();
  await pass(LEASE_MS);
  database.dead.push("n2");
  calls.splice(0);
  await pass(15_000);
  expect(calls.filter((call) => call !== "looked")).toEqual(["ended n2", "released n2"]);
  const values = (await metrics.nodes.get()).values.map(({ labels, value }) => [labels.state, value]);
  expect(values).toEqual([
    ["live", 1],
    ["draining", 1],
    ["gone", 1],
  ]);
});

test("a node looks for nodes to forget while one without agents is gone", async () => {
  const { calls, database } = await startMember();
  const looks = () => calls.splice(0).filter((call) => call === "forgot unused nodes").length;
  database.gone.push(1);
  await pass(20_000);
  expect(looks()).toBe(0);
  database.gone.push(0);
  await pass(5_000);
  expect(looks()).toBe(1);
});

test("a clock that differs from that of the database is reported, and warned of once", async () => {
  const { database, logs, metrics } = await startMember();
  const skewOf = async () => (await metrics.clockSkew.get()).values[0]?.value ?? 0;
  database.aheadMs = -20_000;
  await pass(11_000);
  expect(Math.round(await skewOf())).toBe(20);
  const warned = () => logs.filter((text) => text.includes("clock of this host differs")).length;
  const before = warned();
  database.aheadMs -= 20_000;
  await pass(40_000);
  expect(Math.round(await skewOf())).toBe(40);
  expect([before, warned()]).toEqual([0, 1]);
});

test("an orderly end leaves the cluster once", async () => {
  const { membership, calls, renewals } = await startMember();
  await membership.drain(0);
  await membership.leave();
  await membership.leave();
  const count = renewals.length;
  await pass(LEASE_MS);
  expect([calls.filter((call) => call === "draining" || call === "left"), renewals.length]).toEqual([["draining", "left"], count]);
});
