import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync, realpathSync } from "node:fs";
import { chown, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { createInterface } from "node:readline";
import { promisify } from "node:util";
import { Client } from "pg";
import { findFreePort } from "../find-free-port.ts";
import { isExecutable } from "../is-executable.ts";
import { until } from "../until.ts";

const run = promisify(execFile);

/** The directories in which Debian installs the programs of each version. */
const DEBIAN_VERSIONS = "/usr/lib/postgresql";
const START_ATTEMPTS = 5;
const REPLICA_LIMIT_MS = 20_000;
/** A replica accepts only reads. */
const READY = /database system is ready to accept (read.only )?connections/;

/** A private PostgreSQL server on a port of 127.0.0.1. Its files are removed when it closes. */
export interface PostgresCluster {
  /** Changes in a failover. */
  readonly port: number;
  /** The URL of a database of this server. */
  urlOf(database: string, port?: number): string;
  /** Stops the server as a crash would, and starts it again on the same port. */
  crashAndRestart(): Promise<void>;
  /** Stops the server as a crash would. */
  crash(): Promise<void>;
  /** Starts the server again on the same port. */
  start(): Promise<void>;
  /** Starts a replica that confirms each commit before the server does. */
  startReplica(): Promise<void>;
  /** Makes the replica a server, while the server goes on. Returns its port. */
  promoteReplica(): Promise<number>;
  /** Stops the server as a crash would, and makes the replica the server, on another port. */
  failOver(): Promise<void>;
  close(): Promise<void>;
}

/**
 * Creates a cluster of the newest PostgreSQL of this machine, and starts it with these settings. As root, it runs as the user `postgres`.
 */
export async function startCluster(settings: Readonly<Record<string, string>> = {}): Promise<PostgresCluster> {
  const programs = findPrograms();
  const owner = findOwner();
  const directory = await mkdtemp(path.join(tmpdir(), "postgres-"));
  if (owner !== null) await chown(directory, owner.uid, owner.gid);
  let data = path.join(directory, "data");
  const options = ["-D", data, "-U", "bridge", "-A", "trust", "--no-sync", "-E", "UTF8", "--locale=C", "--wal-segsize=1"];
  await run(path.join(programs, "initdb"), options, { ...owner, cwd: "/" });

  const startOn = (files: string) => (at: number) =>
    startServer({ program: path.join(programs, "postgres"), data: files, port: at, owner, settings });
  let { server, port } = await startOnFreePort(startOn(data));
  let replica: { server: ChildProcess; port: number; data: string } | null = null;
  const urlOf = (database: string, at = port): string => `postgres://bridge@127.0.0.1:${at}/${database}`;
  const crash = () => stop(server, "SIGQUIT");
  const restart = async () => {
    server = await startOn(data)(port);
  };
  return {
    get port() {
      return port;
    },
    urlOf,
    crash,
    start: restart,
    async startReplica() {
      const files = await mkdtemp(path.join(directory, "replica-"));
      if (owner !== null) await chown(files, owner.uid, owner.gid);
      // The found programs can be links into the directory that contains all programs.
      const installed = path.dirname(realpathSync(path.join(programs, "postgres")));
      await run(path.join(installed, "pg_basebackup"), ["-D", files, "-d", urlOf("postgres"), "-R", "-X", "stream", "-c", "fast"], {
        ...owner,
        cwd: "/",
      });
      replica = { ...(await startOnFreePort(startOn(files))), data: files };
      // Stored after the copy, so that the replica itself waits for none when it is the server.
      await query(urlOf("postgres"), "ALTER SYSTEM SET synchronous_standby_names = '*'");
      await query(urlOf("postgres"), "SELECT pg_reload_conf()");
      const isConfirming = async () => (await query(urlOf("postgres"), "SELECT 1 FROM pg_stat_replication WHERE sync_state = 'sync'")) > 0;
      if (!(await until(isConfirming, REPLICA_LIMIT_MS))) throw new Error("The replica does not confirm commits.");
    },
    async promoteReplica() {
      if (replica === null) throw new Error("There is no replica.");
      await query(urlOf("postgres", replica.port), "SELECT pg_promote()");
      return replica.port;
    },
    async failOver() {
      if (replica === null) throw new Error("There is no replica.");
      await crash();
      ({ server, port, data } = replica);
      replica = null;
      await query(urlOf("postgres"), "SELECT pg_promote()");
    },
    async crashAndRestart() {
      await crash();
      await restart();
    },
    async close() {
      await crash();
      if (replica !== null) await stop(replica.server, "SIGQUIT");
      await rm(directory, { recursive: true, force: true });
    },
  };
}

/** Runs a statement. Returns the number of rows. */
async function query(url: string, text: string): Promise<number> {
  const client = new Client(url);
  await client.connect();
  try {
    return (await client.query(text)).rows.length;
  } finally {
    await client.end();
  }
}

/** Returns the directory that contains `postgres` and `initdb`. */
export function findPrograms({ PATH = "" } = process.env, debianVersions = DEBIAN_VERSIONS): string {
  const versions = namesIn(debianVersions).sort((a, b) => Number(b) - Number(a));
  const candidates = [...PATH.split(path.delimiter), ...versions.map((version) => path.join(debianVersions, version, "bin"))];
  const found = candidates.find((directory) => ["postgres", "initdb"].every((name) => isExecutable(path.join(directory, name))));
  if (found !== undefined) return found;
  throw new Error(
    `These tests need PostgreSQL, but \`postgres\` and \`initdb\` are neither on PATH nor in ${debianVersions}/*/bin. ` +
      "Install it (`apt-get install postgresql` on Debian), or set BRIDGE_TEST_POSTGRES=off to omit these tests.",
  );
}

type Owner = { uid: number; gid: number } | null;

/** PostgreSQL refuses to run as root. */
function findOwner(): Owner {
  if (process.getuid?.() !== 0) return null;
  const [, uid, gid] = /^postgres:[^:]*:(\d+):(\d+):/m.exec(readFileSync("/etc/passwd", "utf8")) ?? [];
  if (uid === undefined) throw new Error("PostgreSQL does not run as root, and there is no user `postgres` to run it as.");
  return { uid: Number(uid), gid: Number(gid) };
}

interface ServerOptions {
  program: string;
  data: string;
  port: number;
  owner: Owner;
  settings: Readonly<Record<string, string>>;
}

/** Starts the server as a child of this process. Resolves when it accepts connections. */
async function startServer({ program, data, port, owner, settings }: ServerOptions): Promise<ChildProcess> {
  const allSettings = {
    listen_addresses: "127.0.0.1",
    port,
    unix_socket_directories: "",
    // Shared memory in files of the data directory disappears with them, even after kill -9.
    dynamic_shared_memory_type: "mmap",
    fsync: "off",
    max_connections: 200,
    ...settings,
  };
  const options = Object.entries(allSettings).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
  const server = spawn(program, ["-D", data, ...options], { ...owner, cwd: "/", stdio: ["ignore", "ignore", "pipe"] });
  const log: string[] = [];
  const lines = createInterface(server.stderr);
  await new Promise<void>((resolve, reject) => {
    lines.on("line", (line) => {
      if (log.push(line) > 50) log.shift();
      if (READY.test(line)) resolve();
    });
    server.once("error", reject);
    server.once("exit", () => reject(new Error(`PostgreSQL did not start:\n${log.join("\n")}`)));
  });
  return server;
}

/** Another process can take the port between the search and the start. */
async function startOnFreePort(start: (port: number) => Promise<ChildProcess>): Promise<{ server: ChildProcess; port: number }> {
  for (let attempt = 1; ; attempt += 1) {
    const port = await findFreePort();
    try {
      return { server: await start(port), port };
    } catch (error) {
      if (attempt === START_ATTEMPTS) throw error;
    }
  }
}

async function stop(server: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (server.exitCode !== null || server.signalCode !== null) return;
  const exited = once(server, "exit");
  server.kill(signal);
  await exited;
}

function namesIn(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
}
