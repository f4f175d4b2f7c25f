import { loadNodeIdentity } from "../cluster/node-identity.ts";
import { createSharedCluster } from "../cluster/shared-cluster.ts";
import type { Config } from "../config/config.ts";
import { createSharedQueue } from "../dispatch/sharing/shared-queue.ts";
import { createSharedRates } from "../http/wire/shared-rates.ts";
import type { Hint } from "../store/nodes/interface.ts";
import { openPostgresStore } from "../store/open-postgres.ts";
import { createForwarding } from "./create-forwarding.ts";
import { describeNode } from "./describe-node.ts";
import type { DatabaseOptions, OpenedDatabase } from "./opened-database.ts";

/** Connects to the PostgreSQL database, which several nodes share. */
export async function openPostgres(
  config: Config & { databaseUrl: string },
  { onFault, metrics, logger, version }: DatabaseOptions,
): Promise<OpenedDatabase> {
  const node = loadNodeIdentity(config.dataDir);
  const graceMs = config.node.graceSeconds * 1000;
  let listener = (_: Hint): void => {};
  const { store, cluster, rates } = await openPostgresStore({
    url: config.databaseUrl,
    ...(config.databaseListenUrl !== null && { listenUrl: config.databaseListenUrl }),
    node,
    delivers: config.delivers,
    migrates: config.migrate === "auto",
    onFault,
    onTailLag: (events) => metrics.tailLag.set(events),
    onHint: (hint) => listener(hint),
  });
  const shared = createSharedCluster({
    ...{ id: node.id, node: describeNode(config, version), cluster, graceMs, filesDir: config.filesDir, metrics, logger },
    onHint(given) {
      listener = given;
    },
  });
  return {
    store,
    cluster: shared,
    shareQueue: createSharedQueue({ cluster, graceMs }),
    sharedRates: createSharedRates(rates.addRateCounts),
    forwarding: createForwarding({ cluster, view: shared.view, store, logger }),
  };
}
