import type { ClaimFilter, QueuedCount } from "../../store/tasks/interface.ts";
import type { Share, Tenant } from "./lane.ts";
import { unblock } from "./line.ts";
import { correctTally } from "./queue-tally.ts";
import type { Shares } from "./shares.ts";
import { sumCounts } from "./sum-counts.ts";
import { limitsRunning } from "./tenant-load.ts";

/** Creates the functions that correct the counts by what several nodes have stored. `readings.begun` counts the readings of the store. */
export function createStoredCounts(shares: Shares, readings: { begun: number }) {
  const { shareOf, laneOf, tenantOf, place } = shares;

  /** Corrects the counts by what was read from the store. Returns the providers whose tasks may be able to start now. */
  function applyCounts(counts: readonly QueuedCount[]): Iterable<string> {
    const read = sumCounts(counts);
    for (const { tenant, startable, provider } of counts) if (startable > 0) shareOf({ tenant, provider });
    for (const { tenant } of counts) tenantOf(tenant);
    for (const tenant of [...shares.tenants.values()]) {
      const agents = read.agents.get(tenant.name);
      for (const agentId of new Set([...tenant.agents.keys(), ...(agents?.keys() ?? [])]))
        correctAgent(tenant, agentId, agents?.get(agentId) ?? 0);
      for (const share of [...tenant.shares.values()]) {
        correctLine(share, "child", read.child.get(share.lane.provider)?.get(tenant.name) ?? 0);
        correctLine(share, "dispatched", read.dispatched.get(share.lane.provider)?.get(tenant.name) ?? 0);
        place(share);
      }
      shares.forgetIfIdle(tenant);
    }
    for (const { provider } of counts) laneOf(provider);
    for (const lane of shares.lanes.values()) lane.elsewhere = read.elsewhere.get(lane.provider) ?? 0;
    return [...shares.lanes.keys()];
  }

  function correctAgent(tenant: Tenant, agentId: string, read: number): void {
    const { claiming } = tenant;
    shares.changeAgentOf(tenant, agentId, ({ queued }) => correctTally(queued, { reading: readings.begun, read, claiming }));
  }

  /**
   * A line may be blocked because a task of another node uses a session, because the tenant has reached a limit over all nodes, or because
   * another node had locked the only task for a moment.
   */
  function correctLine(share: Share, kind: ClaimFilter["kind"], read: number): void {
    const line = share[kind];
    share.lane.startable += correctTally(line.queued, { reading: readings.begun, read, claiming: line.claiming });
    if (read > 0) unblock(line);
  }

  return {
    /** Call it before the store is read for `applyCounts`. */
    beginReading(): void {
      readings.begun += 1;
    },
    applyCounts,
    /** Reports that tasks which waited for a budget may be able to start. */
    noteRoom(): string[] {
      for (const share of shares.listShares()) {
        unblock(share.dispatched);
        place(share);
      }
      return [...shares.lanes.keys()];
    },
    /** Reports the end of a task of another node. If limits on running tasks hold over all nodes, another task may start now. */
    noteEnd(name: string): Iterable<string> {
      const tenant = shares.tenants.get(name);
      if (tenant === undefined || !limitsRunning(tenant.quota)) return [];
      for (const share of tenant.shares.values()) {
        unblock(share.dispatched);
        place(share);
      }
      return [...tenant.shares.keys()];
    },
  };
}
