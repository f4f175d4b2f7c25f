import { spawn } from "node:child_process";
import { once } from "node:events";
import path from "node:path";
import { createInterface } from "node:readline";
import { compileCache } from "../harness/compile-cache.ts";

/** One Bridge process, from start to kill. */
export interface BridgeProcess {
  /** The address on which it listens. Rejects if it exits before it listens. */
  readonly address: Promise<string>;
  /** Undefined if it could not be started. */
  readonly pid: number | undefined;
  /** Its log lines of level error. */
  readonly errorLines: readonly string[];
  /** Its log lines of level warn. */
  readonly warningLines: readonly string[];
  /** What it wrote to stderr. */
  stderr(): string;
  /** Resolves with the exit code, or null after a signal. */
  readonly exited: Promise<number | null>;
  signal(name: NodeJS.Signals): void;
  /** Sends SIGKILL and resolves after the exit; false if the process had exited before. */
  kill(): Promise<boolean>;
  /** Sends SIGTERM and resolves with the exit code. */
  stop(): Promise<number | null>;
}

/** Which program to start. */
export interface BridgeProgram {
  /** The directory with the source of Bridge. */
  root: string;
  /** Arguments of Node. */
  nodeArguments: readonly string[];
}

const repository = path.resolve(import.meta.dirname, "../..");
const thisProgram: BridgeProgram = { root: repository, nodeArguments: [] };
const LEVEL_WARN = 40;
const LEVEL_ERROR = 50;

/** Starts the real program. */
export function startBridge(environment: Readonly<Record<string, string>>, program: Partial<BridgeProgram> = {}): BridgeProcess {
  const { root, nodeArguments } = { ...thisProgram, ...program };
  const child = spawn(process.execPath, [...nodeArguments, path.join(root, "src/main.ts")], {
    cwd: root,
    env: { ...compileCache, PATH: process.env["PATH"] ?? "", ...environment },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const exited = once(child, "exit").then(() => child.exitCode);
  const address = Promise.withResolvers<string>();
  const errorLines: string[] = [];
  const warningLines: string[] = [];
  let stderr = "";
  let asked = false;

  createInterface(child.stdout).on("line", (line) => {
    const entry = readEntry(line);
    if (entry.address !== undefined) address.resolve(entry.address);
    if ((entry.level ?? 0) >= LEVEL_ERROR) errorLines.push(line);
    else if (entry.level === LEVEL_WARN) warningLines.push(line);
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
    pid: child.pid,
    errorLines,
    warningLines,
    stderr: () => stderr,
    exited,
    signal: (name) => void child.kill(name),
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
