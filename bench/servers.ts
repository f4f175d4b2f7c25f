import { execFileSync, spawnSync } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import { once } from "node:events";
import { accessSync, chownSync, existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import type { Counts } from "./count-preload.ts";
import type { Target } from "./driver.ts";
import { type PinnedProcess, startPinned } from "./pinned-process.ts";

export const serverNames = ["floor", "bridge", "bare", "bullmq-everysec", "bullmq-always", "pg-boss"] as const;
/** `bridge@` is followed by the directory of another checkout of Bridge. */
export type ServerName = (typeof serverNames)[number] | `bridge@${string}`;

/** Largest number of tasks in flight. */
export const MAX_IN_FLIGHT = 256;

const SERVER_CORE = 0;
const DRIVER_CORE = 1;
const START_LIMIT_MS = 30_000;

/** Directories that are removed at the exit, also after an interruption. The processes of the benchmark end first. */
const directories = new Set<string>();
process.once("exit", () => {
  for (const directory of directories) rmSync(directory, { recursive: true, force: true, maxRetries: 10 });
});

export type RunningServer = Awaited<ReturnType<typeof startServer>>;

export const startDriver = (): PinnedProcess => startPinned(DRIVER_CORE, [process.execPath, "driver.ts"]);

/** Returns why a server cannot run on this machine, with the command that installs it; null if it can. */
export function explainAbsence(name: ServerName): string | null {
  if (!isPeer(name)) return null;
  if (name === "pg-boss" && findPostgres() === null) return "PostgreSQL is missing: apt-get install postgresql";
  if (name !== "pg-boss" && spawnSync("redis-server", ["--version"]).error !== undefined)
    return "redis-server is missing: apt-get install redis-server";
  const isInstalled = existsSync(path.join(import.meta.dirname, "peers/node_modules", name.replace(/-(everysec|always)$/, "")));
  return isInstalled ? null : "The package is missing: npm ci --prefix bench/peers";
}

/** How a server is started. */
interface StartOptions {
  nodeOptions?: readonly string[];
  /** The server counts its operations, and is slower. */
  counts?: boolean;
  /** Writes files into its directory before it starts. */
  prepare?: (directory: string) => Promise<void>;
  /** The server stores tasks and runs none. */
  acceptOnly?: boolean;
  /** Starts Bridge as an operator does, with its own adapters. */
  asOperator?: boolean;
}

/** Starts a server on an empty directory. */
export async function startServer(
  name: ServerName,
  { nodeOptions = [], counts = false, prepare, acceptOnly = false, asOperator = false }: StartOptions = {},
) {
  const directory = mkdtempSync(path.join(tmpdir(), "bridge-bench-"));
  directories.add(directory);
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
    if (name === "pg-boss") processes.push(await startPostgres(directory, counts));
    else if (isPeer(name)) {
      const redis = startPinned(SERVER_CORE, createRedisCommand(directory, redisSocket, name.replace("bullmq-", "")));
      processes.push(redis);
      await waitUntilReady("redis-server", () => accessSync(redisSocket));
    }
    const [kind = name, checkout] = name.split("@");
    const programs = checkout === undefined ? import.meta.dirname : path.join(checkout, "bench");
    const bridge = asOperator ? "../src/start.js" : "bridge.ts";
    const peer = `peers/${kind.replace(/^(bullmq)-.*/, "$1")}.ts`;
    const program = path.join(programs, isPeer(name) ? peer : kind === "bridge" ? bridge : `${kind}.ts`);
    const preload = counts ? ["--import", path.join(programs, "count-preload.ts")] : [];
    const environment = {
      ...(kind === "bridge" ? createBridgeEnvironment(directory, token) : { BENCH_DATA_DIR: directory, BENCH_REDIS_SOCKET: redisSocket }),
      ...(acceptOnly && { BENCH_ACCEPT_ONLY: "1" }),
      // The first line of the log contains the address.
      ...(asOperator && { BRIDGE_LOG_LEVEL: "info" }),
    };
    const server = startPinned(SERVER_CORE, [process.execPath, ...nodeOptions, ...preload, program], environment);
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
        if (name === "pg-boss") return { promises, statements: readPostgresStatements(directory) };
        return { promises, statements: existsSync(redisSocket) ? await readRedisCommands(redisSocket) : statements };
      },
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

/** Finds the directory with the newest PostgreSQL server, which Debian does not add to the PATH. */
function findPostgres(): string | null {
  const root = "/usr/lib/postgresql";
  const versions = existsSync(root) ? readdirSync(root).sort((one, other) => Number(other) - Number(one)) : [];
  return versions.map((version) => path.join(root, version, "bin")).find((bin) => existsSync(path.join(bin, "initdb"))) ?? null;
}

/** Starts PostgreSQL with its default settings on a UNIX socket in the directory. It rejects root, so root starts it as `postgres`. */
async function startPostgres(directory: string, counts: boolean): Promise<PinnedProcess> {
  const bin = findPostgres() as string;
  const uid = process.getuid?.() === 0 ? Number(execFileSync("id", ["-u", "postgres"], { encoding: "utf8" })) : undefined;
  if (uid !== undefined) chownSync(directory, uid, -1);
  const data = path.join(directory, "postgres");
  const userOption = uid === undefined ? {} : { uid };
  execFileSync(path.join(bin, "initdb"), ["-D", data, "-U", "bench", "--auth", "trust"], {
    cwd: directory,
    stdio: "ignore",
    ...userOption,
  });
  const settings = {
    unix_socket_directories: directory,
    listen_addresses: "",
    log_min_messages: "fatal",
    ...(counts && { shared_preload_libraries: "pg_stat_statements" }),
  };
  const options = Object.entries(settings).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
  const postgres = startPinned(SERVER_CORE, [path.join(bin, "postgres"), "-D", data, ...options], {}, uid);
  await waitUntilReady("postgres", () =>
    queryPostgres(directory, counts ? "CREATE EXTENSION IF NOT EXISTS pg_stat_statements" : "SELECT 1"),
  );
  return postgres;
}

const queryPostgres = (directory: string, sql: string): string =>
  execFileSync(path.join(findPostgres() as string, "psql"), ["-h", directory, "-U", "bench", "-d", "postgres", "-Atc", sql], {
    encoding: "utf8",
    stdio: ["ignore", "pipe", "ignore"],
  });

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

/** Waits until `isReady` returns without an error. */
async function waitUntilReady(program: string, isReady: () => unknown): Promise<void> {
  const deadline = performance.now() + START_LIMIT_MS;
  for (;;) {
    try {
      isReady();
      return;
    } catch (error) {
      if (performance.now() > deadline) throw new Error(`${program} was not ready within ${START_LIMIT_MS} ms.`, { cause: error });
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
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
