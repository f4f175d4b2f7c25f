import { spawnSync } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import { once } from "node:events";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import type { Counts } from "./count-preload.ts";
import type { Target } from "./driver.ts";
import { type PinnedProcess, startPinned } from "./pinned-process.ts";

export const serverNames = ["floor", "bridge", "bare", "bullmq-everysec", "bullmq-always"] as const;
/** `bridge@` is followed by the directory of another checkout of Bridge. */
export type ServerName = (typeof serverNames)[number] | `bridge@${string}`;

/** Largest number of tasks in flight. */
export const MAX_IN_FLIGHT = 256;

const SERVER_CORE = 0;
const DRIVER_CORE = 1;
const REDIS_START_LIMIT_MS = 30_000;

export type RunningServer = Awaited<ReturnType<typeof startServer>>;

export const startDriver = (): PinnedProcess => startPinned(DRIVER_CORE, [process.execPath, "driver.ts"]);

/** Why a server cannot run on this machine, with the command that installs it; null if it can. */
export function explainAbsence(name: ServerName): string | null {
  if (!name.startsWith("bullmq")) return null;
  if (spawnSync("redis-server", ["--version"]).error !== undefined) return "redis-server is missing: apt-get install redis-server";
  const isInstalled = existsSync(path.join(import.meta.dirname, "peers/node_modules/bullmq"));
  return isInstalled ? null : "BullMQ is missing: npm ci --prefix bench/peers";
}

/** How a server is started. */
interface StartOptions {
  nodeOptions?: readonly string[];
  /** Instruments the server, which makes it slower. */
  counts?: boolean;
  /** The server stores tasks and runs none. */
  acceptOnly?: boolean;
  /** Starts Bridge as an operator does, with its own adapters. */
  asOperator?: boolean;
}

/** Starts a server on an empty directory. */
export async function startServer(
  name: ServerName,
  { nodeOptions = [], counts = false, acceptOnly = false, asOperator = false }: StartOptions = {},
) {
  const directory = mkdtempSync(path.join(tmpdir(), "bridge-bench-"));
  const token = randomBytes(24).toString("hex");
  const redisSocket = path.join(directory, "redis.sock");
  const processes: PinnedProcess[] = [];
  const stop = async () => {
    // The server disconnects before Redis stops.
    for (const one of processes.toReversed()) await one.stop();
    rmSync(directory, { recursive: true, force: true });
  };
  try {
    if (name.startsWith("bullmq")) {
      const redis = startPinned(SERVER_CORE, redisCommand(directory, redisSocket, name.replace("bullmq-", "")));
      processes.push(redis);
      await waitForRedis(redisSocket);
    }
    const [kind = name, checkout] = name.split("@");
    const programs = checkout === undefined ? import.meta.dirname : path.join(checkout, "bench");
    const bridge = asOperator ? "../src/start.js" : "bridge.ts";
    const program = path.join(programs, kind.startsWith("bullmq") ? "peers/bullmq.ts" : kind === "bridge" ? bridge : `${kind}.ts`);
    const preload = counts ? ["--import", path.join(programs, "count-preload.ts")] : [];
    const environment = {
      ...(kind === "bridge" ? bridgeEnvironment(directory, token) : { BENCH_DATA_DIR: directory, BENCH_REDIS_SOCKET: redisSocket }),
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
        return { promises, statements: existsSync(redisSocket) ? await readRedisCommands(redisSocket) : statements };
      },
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Redis with an append-only file. Snapshots and rewrites are off: they would run in other processes, at any time. */
function redisCommand(directory: string, socket: string, appendfsync: string): string[] {
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

async function waitForRedis(socket: string): Promise<void> {
  const deadline = performance.now() + REDIS_START_LIMIT_MS;
  while (!existsSync(socket)) {
    if (performance.now() > deadline) throw new Error(`redis-server did not open ${socket} within ${REDIS_START_LIMIT_MS} ms.`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** Commands that Redis has executed, including those of its scripts. */
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

function bridgeEnvironment(directory: string, token: string): Record<string, string> {
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
