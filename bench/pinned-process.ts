import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";

/** A program of the benchmark on a dedicated core. */
export interface PinnedProcess {
  pid: number;
  /** The first line on stdout, parsed; rejects when it ends without one. */
  firstLine: Promise<Record<string, unknown>>;
  /** Sends SIGTERM and resolves when the process has exited. */
  stop(): Promise<void>;
}

/** Starts `node <program>` on one core. `taskset` becomes the program, so the pid is the program's. */
export function startPinned(
  core: number,
  program: readonly string[],
  { environment = {}, input }: { environment?: Readonly<Record<string, string>>; input?: string } = {},
): PinnedProcess {
  const child = spawn("taskset", ["-c", String(core), process.execPath, ...program], {
    cwd: import.meta.dirname,
    env: { PATH: process.env["PATH"] ?? "", ...environment },
    stdio: ["pipe", "pipe", "inherit"],
  });
  child.stdin.end(input);
  const firstLine = readFirstLine(child);
  firstLine.catch(() => {});
  return {
    pid: child.pid ?? 0,
    firstLine,
    async stop() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      child.kill("SIGTERM");
      await once(child, "exit");
    },
  };
}

function readFirstLine(child: ChildProcess): Promise<Record<string, unknown>> {
  return new Promise((resolve, reject) => {
    if (child.stdout === null) throw new Error("stdout is not a pipe");
    createInterface(child.stdout).once("line", (line) => resolve(JSON.parse(line) as Record<string, unknown>));
    child.once("error", (error) => reject(new Error("The bench needs Linux with taskset.", { cause: error })));
    child.once("exit", (code, signal) => reject(new Error(`${child.spawnargs.join(" ")} ended (${code ?? signal}) without output.`)));
  });
}
