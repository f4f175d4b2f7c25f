import { spawn } from "node:child_process";
import { once } from "node:events";
import path from "node:path";
import { createInterface } from "node:readline";
import { compileCache } from "../harness/compile-cache.ts";

/** One Bridge process, from start to kill. */
export interface BridgeProcess {
  /** The address on which it listens. Rejects if it exits before it listens. */
  readonly address: Promise<string>;
  /** Its log lines of level error. */
  readonly errorLines: readonly string[];
  /** Sends SIGKILL and resolves after the exit; false if the process had exited before. */
  kill(): Promise<boolean>;
  /** Sends SIGTERM and resolves with the exit code. */
  stop(): Promise<number | null>;
}

const repository = path.resolve(import.meta.dirname, "../..");
const LEVEL_ERROR = 50;

/** Starts the real program. */
export function startBridge(environment: Readonly<Record<string, string>>): BridgeProcess {
  const child = spawn(process.execPath, [path.join(repository, "src/main.ts")], {
    cwd: repository,
    env: { ...compileCache, PATH: process.env["PATH"] ?? "", ...environment },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const exited = once(child, "exit").then(() => {});
  const address = Promise.withResolvers<string>();
  const errorLines: string[] = [];
  let stderr = "";
  let asked = false;

  createInterface(child.stdout).on("line", (line) => {
    const entry = readEntry(line);
    if (entry.address !== undefined) address.resolve(entry.address);
    if ((entry.level ?? 0) >= LEVEL_ERROR) errorLines.push(line);
  });
  child.stderr.on("data", (chunk: Buffer) => {
    stderr += chunk.toString("utf8");
  });
  void exited.then(() => address.reject(new Error(`Bridge ended before it listened (${child.exitCode ?? child.signalCode}). ${stderr}`)));
  // A kill before the first log line is not an unhandled rejection.
  address.promise.catch(() => {});

  async function end(signal: NodeJS.Signals): Promise<boolean> {
    const alive = child.exitCode === null && child.signalCode === null;
    if (alive) child.kill(signal);
    else if (!asked) errorLines.push(`Bridge ended by itself (${child.exitCode ?? child.signalCode}). ${stderr}`);
    asked = true;
    await exited;
    return alive;
  }

  return {
    address: address.promise,
    errorLines,
    kill: () => end("SIGKILL"),
    async stop() {
      await end("SIGTERM");
      return child.exitCode;
    },
  };
}

/** Ignores a last line that the kill truncated. */
function readEntry(line: string): { level?: number; address?: string } {
  try {
    return JSON.parse(line) as { level?: number; address?: string };
  } catch {
    return {};
  }
}
