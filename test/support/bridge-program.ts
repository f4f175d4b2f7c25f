import { spawn } from "node:child_process";
import { hash } from "node:crypto";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { createInterface } from "node:readline";
import { expect, onTestFinished } from "vitest";
import { compileCache } from "../harness/compile-cache.ts";
import { databaseOf } from "./database-subject.ts";
import type { AtEnd } from "./database-subject-types.ts";
import { until } from "./until.ts";

const repository = path.resolve(import.meta.dirname, "../..");
/** The token of all nodes on PostgreSQL, where Bridge generates none. */
export const SHARED_TOKEN = "token-of-all-nodes";
/** Settings that accept this token. */
export const sharedSettings = { BRIDGE_GATEWAY_TOKEN_HASH: hash("sha256", SHARED_TOKEN), BRIDGE_SANDBOX: "off" };
/** Time limit on an idle machine. */
const OVERLOAD_LIMIT_MS = 15_000;

/** The program `node src/start.js`, started as by an operator. */
export interface BridgeProgram {
  url: string;
  pid: number;
  /** Its log lines, parsed, in order. */
  log: Record<string, unknown>[];
  stderr(): string;
  signal(name: NodeJS.Signals): void;
  /** Pauses the reader of its log. */
  holdLog(): void;
  /** Closes the reader of its log. */
  closeLog(): void;
  /** Resolves with the exit code or the signal that ended the program. */
  exited: Promise<number | NodeJS.Signals>;
  /** Sends a request with the token that Bridge generated, or with that of all nodes, and repeats it while Bridge is overloaded. */
  call(method: string, target: string, body?: unknown, headers?: Record<string, string>): Promise<Response>;
}

/** Settings that make the command adapter run a shell script. */
export const shellCommand = (script: string) => ({ BRIDGE_COMMAND: JSON.stringify(["/bin/sh", "-c", script]) });

/**
 * Starts Bridge on a free port. Resolves when it listens; rejects with its stderr if it exits before.
 * It is killed at the end of the test; callers outside of a test pass `atEnd`. `openFiles` limits its file descriptors.
 * `wrapper` is a command that becomes Bridge, whose command is appended.
 */
export async function startBridgeProgram(
  dataDir: string,
  environment: Record<string, string> = {},
  atEnd: AtEnd = onTestFinished,
  { openFiles, wrapper = [] }: { openFiles?: number; wrapper?: readonly string[] } = {},
): Promise<BridgeProgram> {
  const database = environment["BRIDGE_DATABASE_URL"] === undefined ? (await databaseOf(dataDir, atEnd)).settings : environment;
  const usesPostgres = database["BRIDGE_DATABASE_URL"]?.startsWith("postgres:") === true;
  const command = [...wrapper, process.execPath, path.join(repository, "src/start.js")];
  const limited = openFiles === undefined ? command : ["/bin/sh", "-c", 'ulimit -n "$0" && exec "$@"', String(openFiles), ...command];
  const child = spawn(limited[0] as string, limited.slice(1), {
    cwd: dataDir,
    env: {
      ...compileCache,
      // Excludes agent programs that are installed on the developer's machine.
      PATH: "/usr/bin:/bin",
      BRIDGE_PORT: "0",
      BRIDGE_DATA_DIR: dataDir,
      BRIDGE_CALLBACK_ALLOW: "127.0.0.1",
      ...(usesPostgres && sharedSettings),
      ...database,
      ...environment,
    },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const exited = once(child, "exit").then(([code, signal]) => (code ?? signal) as number | NodeJS.Signals);
  atEnd(async () => {
    child.kill("SIGKILL");
    await exited;
  });
  let stderr = "";
  child.stderr.on("data", (chunk) => {
    stderr += chunk;
  });
  const log: Record<string, unknown>[] = [];
  const lines = createInterface(child.stdout);
  lines.on("line", (line) => log.push(JSON.parse(line)));
  await Promise.race([once(lines, "line"), exited]);
  if (log.length === 0) throw new Error(`exit ${await exited}: ${stderr}`);
  const url = String(log[0]?.["address"]);

  return {
    url,
    pid: child.pid as number,
    log,
    stderr: () => stderr,
    signal: (name) => void child.kill(name),
    holdLog: () => void lines.pause(),
    closeLog: () => void child.stdout.destroy(),
    exited,
    call: createCall(url, () => (usesPostgres ? SHARED_TOKEN : readGeneratedToken(dataDir))),
  };
}

/** Creates a function that sends requests to a Bridge, and repeats each one while the Bridge is overloaded. */
export function createCall(url: string, readToken: () => string): BridgeProgram["call"] {
  return async (method, target, body, headers = {}) => {
    const send = () =>
      fetch(new URL(target, url), {
        method,
        headers: { authorization: `Bearer ${readToken()}`, ...(body !== undefined && { "content-type": "application/json" }), ...headers },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
    let answer: Response | undefined;
    const isServed = async () => {
      answer = await send();
      return !(await isOverloaded(answer));
    };
    // On a busy machine Bridge can be overloaded.
    await until(isServed, OVERLOAD_LIMIT_MS);
    return answer as Response;
  };
}

const readGeneratedToken = (dataDir: string): string =>
  existsSync(path.join(dataDir, "token")) ? readFileSync(path.join(dataDir, "token"), "utf8").trim() : "";

async function isOverloaded(answer: Response): Promise<boolean> {
  return answer.status === 503 && ((await answer.clone().json()) as { code: string }).code === "overloaded";
}

/** Dispatches a task. */
export const dispatchTask = (bridge: Pick<BridgeProgram, "call">, body: object): Promise<Response> =>
  bridge.call("POST", "/api/v2/dispatch", body);

/** Waits until the task is in the state, and returns it. */
export async function taskInState(
  bridge: Pick<BridgeProgram, "call">,
  taskId: string,
  state: string,
  timeoutMs = 15_000,
): Promise<Record<string, unknown>> {
  let task: Record<string, unknown> = {};
  await expect
    .poll(
      async () => {
        task = (await (await bridge.call("GET", `/api/v2/tasks/${taskId}`)).json()) as Record<string, unknown>;
        return task["state"];
      },
      { timeout: timeoutMs, interval: 20 },
    )
    .toBe(state);
  return task;
}
