import { createHash, randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import type { DriverJob, StageResult } from "./driver.ts";
import { measureFsyncMs } from "./measure-fsync.ts";
import { startPinned } from "./pinned-process.ts";

export const serverNames = ["floor", "bridge", "bare"] as const;
export type ServerName = (typeof serverNames)[number];

/** The maximum number of concurrent tasks. */
export const MAX_IN_FLIGHT = 256;
/** One round: a new start of every server. */
export type Round = Record<ServerName, ServerRun>;

const SERVER_CORE = 0;
const DRIVER_CORE = 1;

/** The result of one new server under one driver. */
export interface ServerRun {
  stages: StageResult[];
  /** Before and after, on the file system of the server's data. */
  fsyncMs: [number, number];
}

/** Starts a server on new data, runs the driver, and stops both. */
export async function runServer(
  name: ServerName,
  stages: DriverJob["stages"],
  { nodeOptions = [] }: { nodeOptions?: readonly string[] } = {},
): Promise<ServerRun> {
  const directory = mkdtempSync(path.join(tmpdir(), "bridge-bench-"));
  const token = randomBytes(24).toString("hex");
  const before = measureFsyncMs(directory);
  const server = startPinned(SERVER_CORE, [...nodeOptions, `${name}.ts`], { environment: environmentOf(name, directory, token) });
  try {
    const { address } = await server.firstLine;
    const job: DriverJob = { address: String(address), token, serverPid: server.pid, kind: name === "bare" ? "requests" : "tasks", stages };
    const driver = startPinned(DRIVER_CORE, ["driver.ts"], { input: JSON.stringify(job) });
    const { results } = await driver.firstLine;
    await driver.stop();
    await server.stop();
    return { stages: results as StageResult[], fsyncMs: [before, measureFsyncMs(directory)] };
  } finally {
    await server.stop();
    rmSync(directory, { recursive: true, force: true });
  }
}

function environmentOf(name: ServerName, directory: string, token: string): Record<string, string> {
  if (name !== "bridge") return { FLOOR_DATA_DIR: directory };
  return {
    BRIDGE_PORT: "0",
    BRIDGE_DATA_DIR: directory,
    BRIDGE_GATEWAY_TOKEN_HASH: createHash("sha256").update(token).digest("hex"),
    BRIDGE_MAX_CONCURRENT: String(MAX_IN_FLIGHT),
    BRIDGE_CALLBACK_ALLOW: "127.0.0.1",
    BRIDGE_CALLBACK_SECRETS: `whsec_${randomBytes(32).toString("base64")}`,
    BRIDGE_LOG_LEVEL: "warn",
  };
}
