import { pino } from "pino";
import { afterEach, expect, onTestFinished, test, vi } from "vitest";
import { createClusterView } from "../../src/cluster/cluster-view.ts";
import type { ClusterNode } from "../../src/store/nodes/interface.ts";

afterEach(() => void vi.useRealTimers());

const GRACE_MS = 120_000;
const self = { id: "id-self", name: "self", tags: [], files: "local" as const };

test.each([
  ["is not given up before the grace time is over, although the clock of this host was set forward", 1000, false],
  ["is given up after the grace time, although the clock of this host was set back", GRACE_MS + 1, true],
])("a dead node %s", async (_, overdueMs, isGivenUp) => {
  const now = Date.now();
  const rows = [
    { ...self, isAlive: true, overdueMs: -60_000, leaseUntil: now + 60_000, skewMs: 0 },
    { ...self, id: "id-dead", name: "dead", isAlive: false, overdueMs, leaseUntil: now - overdueMs, skewMs: 0 },
  ] as unknown as ClusterNode[];
  const view = createClusterView({ self, cluster: { listNodes: async () => rows }, graceMs: GRACE_MS, logger: pino({ level: "silent" }) });
  onTestFinished(view.close);
  await view.refresh();
  vi.useFakeTimers({ toFake: ["Date"], now: isGivenUp ? now - 3_600_000 : now + 3_600_000 });
  expect(view.nodes().map(view.isGivenUp)).toEqual([isGivenUp, false]);
});
