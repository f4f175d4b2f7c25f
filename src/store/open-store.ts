import type { ClusterStore, Hint, NodeIdentity, RateStore } from "./nodes/interface.ts";
import type { Store } from "./store.ts";

/** Which database a store uses. */
export interface StoreOptions {
  /** A SQLite file, which is used if `databaseUrl` is null. */
  databaseFile: string;
  /** `postgres://user:password@host:port/database`. */
  databaseUrl: string | null;
  /** Where hints are exchanged, if `databaseUrl` leads to a pooler. */
  databaseListenUrl: string | null;
  /** Whether this process posts callbacks. */
  delivers: boolean;
  /** Whether this process upgrades the schema of a PostgreSQL database. */
  migrates: boolean;
  /** This node among those that share a PostgreSQL database. */
  node: NodeIdentity;
  /** Called when the database failed and Bridge's own writes wait for it. */
  onFault(error: unknown): void;
  /** Called after each read of the log of several nodes with the number of events that this node had not published. */
  onTailLag(events: number): void;
}

/** An open store. */
export interface OpenedStore {
  store: Store;
  /** The nodes that share the database; null for SQLite, which one process owns. */
  cluster: ClusterStore | null;
  /** Calls the listener with each hint of another node. SQLite has no other nodes. */
  onHint(listener: (hint: Hint) => void): void;
  /** The request counts of all nodes; null for SQLite. */
  rates: RateStore | null;
}

/** Opens the store in the configured database. Loads only the engine that it needs, because engines take memory. */
export async function openStore({
  databaseFile,
  databaseUrl,
  databaseListenUrl,
  delivers,
  migrates,
  node,
  onFault,
  onTailLag,
}: StoreOptions): Promise<OpenedStore> {
  if (databaseUrl === null) {
    const sqlite = await import("./open-sqlite.ts");
    return { store: await sqlite.openStore({ file: databaseFile, onFault }), cluster: null, onHint: () => {}, rates: null };
  }
  const { openPostgresStore } = await import("./open-postgres.ts");
  const listeners = new Set<(hint: Hint) => void>();
  const opened = await openPostgresStore({
    url: databaseUrl,
    ...(databaseListenUrl !== null && { listenUrl: databaseListenUrl }),
    node,
    delivers,
    migrates,
    onFault,
    onTailLag,
    onHint(hint) {
      for (const listener of listeners) listener(hint);
    },
  });
  return { ...opened, onHint: (listener) => void listeners.add(listener) };
}
