import { createLoneCluster } from "../cluster/lone-cluster.ts";
import type { Config } from "../config/config.ts";
import { createLoneQueue } from "../dispatch/sharing/lone-queue.ts";
import { loneRates } from "../http/wire/shared-rates.ts";
import { openStore } from "../store/open-sqlite.ts";
import { describeNode } from "./describe-node.ts";
import { noForwarding } from "./forwarding.ts";
import type { DatabaseOptions, OpenedDatabase } from "./opened-database.ts";

/** Opens the SQLite file, which one Bridge uses alone. */
export async function openSqlite(config: Config, { onFault, version }: DatabaseOptions): Promise<OpenedDatabase> {
  const store = await openStore({ file: config.databaseFile, onFault });
  return {
    store,
    cluster: createLoneCluster({ node: describeNode(config, version), checkWritable: store.checkWritable }),
    shareQueue: createLoneQueue,
    sharedRates: loneRates,
    forwarding: noForwarding,
  };
}
