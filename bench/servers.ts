import { spawnSync } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import { once } from "node:events";
import { accessSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import type { Counts } from "./count-preload.ts";
import type { Target } from "./driver.ts";
import type { LoopReport } from "./loop-preload.ts";
import { type PinnedProcess, startPinned } from "./pinned-process.ts";
import { findPostgres, queryPostgres, startPostgres } from "./postgres-server.ts";
import { waitUntilReady } from "./wait-until-ready.ts";

export const serverNames = ["floor", "bridge", "bridge-budget", "bare", "bullmq-everysec", "bullmq-always", "pg-boss"] as const;
/**
 * `bridge-budget` is Bridge with a budget that all tasks match. `bridge@` is followed by the directory of another checkout of Bridge.
 * `bullmq-postgres` needs a database.
 */
export type ServerName = (typeof serverNames)[number] | "bullmq-postgres" | `bridge@${string}`;

/** Largest number of tasks in flight. */
export const MAX_IN_FLIGHT = 256;

export const SERVER_CORE = 0;
/** The core of the driver and of the programs that tasks start. */
export const DRIVER_CORE = 1;

/** Directories that are removed at the exit, also after an interruption. The processes of the benchmark end first. */
const directories = new Set<string>();
process.once("exit", () => {
  for (const directory of directories) rmSync(directory, { recursive: true, force: true, maxRetries: 10 });
});

/** Creates an empty directory that is removed at the exit. */
export function createDirectory(): string {
  const directory = mkdtempSync(path.join(tmpdir(), "bridge-bench-"));
  directories.add(directory);
  return directory;
}

export type RunningServer = Awaited<ReturnType<typeof startServer>>;

export const startDriver = (): PinnedProcess => startPinned(DRIVER_CORE, [process.execPath, "driver.ts"]);

/** Returns why a server cannot run on this machine, with the command that installs it; null if it can. */
export function explainAbsence(name: ServerName): string | null {
  if (!isPeer(name)) return null;
  if (usesPostgres(name) && findPostgres() === null) return "PostgreSQL is missing: apt-get install postgresql";
  if (!usesPostgres(name) && spawnSync("redis-server", ["--version"]).error !== undefined)
    return "redis-server is missing: apt-get install redis-server";
  const isInstalled = existsSync(path.join(import.meta.dirname, "peers/node_modules", name.replace(/-(everysec|always|postgres)$/, "")));
  return isInstalled ? null : "The package is missing: npm ci --prefix bench/peers";
}

/** Returns why calls that wait for the disk cannot be counted on this machine; null if they can. */
export function explainMissingTracer(): string | null {
  const { error, status } = spawnSync("strace", [...TRACE_OPTIONS, "true"], { stdio: "ignore" });
  if (error !== undefined) return "strace is missing";
  return status === 0 ? null : "strace does not work here";
}

/** The server stays the child of the benchmark, and the kernel stops it only at the traced calls (strace 5.3). */
const TRACE_OPTIONS = ["-D", "-f", "--seccomp-bpf", "-qq", "-e", "trace=fsync,fdatasync,sync_file_range,msync", "-e", "signal=none"];
const SYNC_LOG = "syncs.log";
/** The start of a call. The second line of an interrupted call has no parenthesis after the name. */
const SYNC_CALL = /\b(?:fsync|fdatasync|sync_file_range|msync)\(/g;

/** How a server is started. */
interface StartOptions {
  nodeOptions?: readonly string[];
  /** The server counts its operations, and is slower. */
  counts?: boolean;
  /** The server's calls that wait for the disk are logged, for `readSyncs()`. Only these calls become slower. */
  tracesSyncs?: boolean;
  /** Writes files into its directory before it starts. */
  prepare?: (directory: string) => Promise<void>;
  /** The server stores tasks and runs none. */
  acceptOnly?: boolean;
  /** Starts Bridge as an operator does, with its own adapters. */
  asOperator?: boolean;
  /** The PostgreSQL database of Bridge or a peer. Default: a SQLite file, or a separate PostgreSQL server. */
  databaseUrl?: string;
  /** Additional variables for the server. */
  environment?: Readonly<Record<string, string>>;
}

/** Starts a server on an empty directory. */
export async function startServer(
  name: ServerName,
  { nodeOptions = [], counts = false, tracesSyncs = false, prepare, acceptOnly = false, asOperator = false, ...options }: StartOptions = {},
) {
  const directory = createDirectory();
  const token = randomBytes(24).toString("hex");
  const redisSocket = path.join(directory, "redis.sock");
  const processes: PinnedProcess[] = [];
  const stop = async () => {
    // The server disconnects before Redis stops.
    for (const one of processes.toReversed()) await one.stop();
    rmSync(directory, { recursive: true, force: true });
    directories.delete(directory);
  };
  try {
    await prepare?.(directory);
    if (usesPostgres(name)) {
      // A shared server belongs to the benchmark.
      if (options.databaseUrl === undefined) processes.push(await startPostgres(directory, { core: SERVER_CORE, counts }));
    } else if (isPeer(name)) {
      const redis = startPinned(SERVER_CORE, createRedisCommand(directory, redisSocket, name.replace("bullmq-", "")));
      processes.push(redis);
      await waitUntilReady("redis-server", () => accessSync(redisSocket));
    }
    const [kind = name, checkout] = name.split("@");
    const programs = checkout === undefined ? import.meta.dirname : path.join(checkout, "bench");
    const bridge = asOperator ? "../src/start.js" : "bridge.ts";
    const peer = `peers/${kind.replace(/^(bullmq)-(everysec|always)$/, "$1")}.ts`;
    const isBridge = kind === "bridge" || kind === "bridge-budget";
    const program = path.join(programs, isPeer(name) ? peer : isBridge ? bridge : `${kind}.ts`);
    const preload = counts ? ["--import", path.join(programs, "count-preload.ts")] : [];
    const environment = {
      ...(isBridge ? createBridgeEnvironment(directory, token) : { BENCH_DATA_DIR: directory, BENCH_REDIS_SOCKET: redisSocket }),
      ...(kind === "bridge-budget" && { BRIDGE_BUDGETS_FILE: writeBudgets(directory) }),
      ...(acceptOnly && { BENCH_ACCEPT_ONLY: "1" }),
      // The first line of the log contains the address.
      ...(asOperator && { BRIDGE_LOG_LEVEL: "info" }),
      ...(options.databaseUrl !== undefined && { [isBridge ? "BRIDGE_DATABASE_URL" : "BENCH_DATABASE_URL"]: options.databaseUrl }),
      ...options.environment,
    };
    const tracer = tracesSyncs ? ["strace", ...TRACE_OPTIONS, "-o", path.join(directory, SYNC_LOG)] : [];
    const server = startPinned(SERVER_CORE, [...tracer, process.execPath, ...nodeOptions, ...preload, program], environment);
    processes.push(server);
    const { address } = await server.readFirstLine();
    const target: Target = {
      address: String(address),
      token,
      pids: processes.map(({ pid }) => pid),
      kind: name === "bare" || acceptOnly ? "requests" : "tasks",
    };
    return {
      target,
      directory,
      /** Requires the option `counts`. Commands of Redis count as statements. */
      async readCounts(): Promise<Counts> {
        const { promises, statements } = await server.request<Counts>({});
        if (usesPostgres(name)) return { promises, statements: readPostgresStatements(directory) };
        return { promises, statements: existsSync(redisSocket) ? await readRedisCommands(redisSocket) : statements };
      },
      /** Returns the number of calls that waited for the disk since the start. Requires the option `tracesSyncs`. */
      readSyncs: (): number => readFileSync(path.join(directory, SYNC_LOG), "utf8").match(SYNC_CALL)?.length ?? 0,
      /** Returns the measurement since the previous one. Requires `--import loop-preload.ts` in the options of Node. */
      measureLoop: (): Promise<LoopReport> => server.request<LoopReport>({}),
      /** Requires `--import gc-preload.ts` in the options of Node. */
      collectGarbage: (): Promise<object> => server.request<object>({}),
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

const isPeer = (name: ServerName): boolean => name.startsWith("bullmq") || name === "pg-boss";

const usesPostgres = (name: ServerName): boolean => name === "bullmq-postgres" || name === "pg-boss";

const readPostgresStatements = (directory: string): number => Number(queryPostgres(directory, "SELECT sum(calls) FROM pg_stat_statements"));

/**
 * Returns the command that starts Redis with an append-only file. Snapshots and rewrites are off: they would run in other processes, at
 * any time.
 */
function createRedisCommand(directory: string, socket: string, appendfsync: string): string[] {
  const settings = {
    port: "0",
    unixsocket: socket,
    dir: directory,
    logfile: path.join(directory, "redis.log"),
    save: "",
    appendonly: "yes",
    appendfsync,
    "auto-aof-rewrite-percentage": "0",
    "maxmemory-policy": "noeviction",
  };
  return ["redis-server", ...Object.entries(settings).flatMap(([name, value]) => [`--${name}`, value])];
}

/** Reads the number of commands that Redis has executed, including those of its scripts. */
async function readRedisCommands(socketPath: string): Promise<number> {
  const socket = connect(socketPath);
  socket.setEncoding("utf8").write("INFO stats\r\n");
  let answer = "";
  let count: string | undefined;
  while (count === undefined) {
    const [chunk] = (await once(socket, "data")) as [string];
    answer += chunk;
    count = /^total_commands_processed:(\d+)\r$/m.exec(answer)?.[1];
  }
  socket.destroy();
  return Number(count);
}

/** Writes a budget that no run of a benchmark can reach, and returns the path of its file. */
function writeBudgets(directory: string): string {
  const file = path.join(directory, "budgets.json");
  writeFileSync(file, JSON.stringify([{ name: "all", per: "month", maxCostUsd: 1_000_000_000 }]));
  return file;
}

function createBridgeEnvironment(directory: string, token: string): Record<string, string> {
  return {
    BRIDGE_PORT: "0",
    BRIDGE_DATA_DIR: directory,
    BRIDGE_GATEWAY_TOKEN_HASH: createHash("sha256").update(token).digest("hex"),
    BRIDGE_MAX_CONCURRENT: String(MAX_IN_FLIGHT),
    BRIDGE_QUEUE_LIMIT: "10000000",
    BRIDGE_CALLBACK_ALLOW: "127.0.0.1",
    BRIDGE_CALLBACK_SECRETS: `whsec_${randomBytes(32).toString("base64")}`,
    BRIDGE_LOG_LEVEL: "warn",
  };
}
