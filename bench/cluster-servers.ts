import { createHash, randomBytes } from "node:crypto";
import { rmSync } from "node:fs";
import { findFreePort } from "../test/support/find-free-port.ts";
import type { Target } from "./driver.ts";
import { queryPostgres, startPostgres } from "./postgres-server.ts";
import { createDirectory, type RunningServer, SERVER_CORE, startServer } from "./servers.ts";

/** A PostgreSQL server that the servers under measurement share. Its transactions are durable (`fsync=on`). */
export type SharedPostgres = Awaited<ReturnType<typeof startSharedPostgres>>;

/** Starts the server. With `counts`, it counts statements and is slower. */
export async function startSharedPostgres({ counts = false } = {}) {
  const directory = createDirectory();
  const port = await findFreePort();
  const postgres = await startPostgres(directory, { core: SERVER_CORE, counts, port });
  const query = (sql: string): string => queryPostgres(directory, sql, port).trim();
  if (query("SHOW fsync") !== "on" || query("SHOW synchronous_commit") !== "on") throw new Error("The server is not durable.");
  return {
    pid: postgres.pid,
    version: query("SHOW server_version"),
    query,
    /** Creates a database, and returns its URL. */
    createDatabase(name: string): string {
      query(`CREATE DATABASE ${name} TEMPLATE template0`);
      return `postgres://bench@127.0.0.1:${port}/${name}`;
    },
    async stop(): Promise<void> {
      await postgres.stop();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

/** Servers that share one database, and how the driver reaches them. */
export interface ClusterServers {
  target: Target;
  stop(): Promise<void>;
}

/** Agents of the tasks. With several nodes, each agent lives on the node that started its first task. */
const AGENTS = 32;

/** Starts nodes of Bridge, or processes of a peer, on a new database of the server. The CPU time includes that of the server. */
export async function startCluster(
  name: "bridge" | "pg-boss" | "bullmq-postgres",
  count: number,
  postgres: SharedPostgres,
  nodeOptions: readonly string[] = [],
): Promise<ClusterServers> {
  const databaseUrl = postgres.createDatabase(`${name.replace("-", "_")}_${count}`);
  const token = randomBytes(24).toString("hex");
  const shared = {
    // No task starts a program.
    BRIDGE_SANDBOX: "off",
    BRIDGE_GATEWAY_TOKEN_HASH: createHash("sha256").update(token).digest("hex"),
    BRIDGE_CALLBACK_SECRETS: `whsec_${randomBytes(32).toString("base64")}`,
  };
  const servers: RunningServer[] = [];
  const stop = async () => {
    for (const server of servers) await server.stop();
  };
  try {
    // One after the other, because the first one creates the tables.
    for (let index = 0; index < count; index += 1) {
      const environment =
        name === "bridge" ? { ...shared, BRIDGE_NODE_NAME: `node-${index + 1}` } : { BENCH_FIRST_EVENT: String(index * 1_000_000_000) };
      servers.push(await startServer(name, { databaseUrl, environment, nodeOptions }));
    }
    const [address = "", ...others] = servers.map((server) => server.target.address);
    const pids = [...servers.flatMap((server) => server.target.pids), postgres.pid];
    const target: Target = { address, others, token, pids, kind: "tasks", agents: AGENTS, hasSeparateStreams: name !== "bridge" };
    return { target, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}
