import type { Logger } from "pino";
import type { Cluster } from "../cluster/cluster.ts";
import type { ShareQueue } from "../dispatch/sharing/queue-sharing.ts";
import type { SharedRates } from "../http/wire/shared-rates.ts";
import type { Metrics } from "../metrics.ts";
import type { Store } from "../store/store.ts";
import type { Forwarding } from "./forwarding.ts";

/** What the opening of a database uses besides the configuration. */
export interface DatabaseOptions {
  /** Called when the database failed and Bridge's own writes wait for it. */
  onFault(error: unknown): void;
  metrics: Metrics;
  logger: Logger;
  version: string;
}

/** An open database, and the parts that depend on whether other nodes use it too. */
export interface OpenedDatabase {
  store: Store;
  cluster: Cluster;
  shareQueue: ShareQueue;
  sharedRates: SharedRates;
  forwarding: Forwarding;
}
