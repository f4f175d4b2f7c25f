import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";

const START_LIMIT_MS = 60_000;
const STOP_LIMIT_MS = 10_000;

/** Processes that are killed at the exit, also after an interruption. */
const running = new Set<ChildProcess>();
for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => process.exit(1));
process.once("exit", () => {
  for (const child of running) child.kill("SIGKILL");
});

/** A program that runs on one core only. */
export interface PinnedProcess {
  pid: number;
  /** Resolves to the first line on stdout, parsed as JSON; rejects if the program exits before, or after a minute. */
  readFirstLine(): Promise<Record<string, unknown>>;
  /** Sends a message to a Node program, and resolves to its next message; rejects if the program exits before. */
  request<Reply>(message: object): Promise<Reply>;
  /** Sends SIGTERM, and SIGKILL after 10 s; resolves after the exit. */
  stop(): Promise<void>;
}

/** Starts a command on one core, as another user if `uid` is set. `taskset` becomes the program, so the pid is the program's. */
export function startPinned(
  core: number,
  command: readonly string[],
  environment: Readonly<Record<string, string>> = {},
  uid?: number,
): PinnedProcess {
  const child = spawn("taskset", ["-c", String(core), ...command], {
    cwd: import.meta.dirname,
    env: { PATH: process.env["PATH"] ?? "", ...environment },
    stdio: ["ignore", "pipe", "inherit", "ipc"],
    // JSON would turn NaN, the figure of an empty slice, into null.
    serialization: "advanced",
    ...(uid !== undefined && { uid }),
  });
  running.add(child);
  child.once("exit", () => running.delete(child));
  const exited = failOnExit(child);
  const lines = createInterface(child.stdout as NonNullable<typeof child.stdout>);
  const firstLine = once(lines, "line", { signal: AbortSignal.timeout(START_LIMIT_MS) });
  firstLine.catch(() => {});
  return {
    pid: child.pid ?? 0,
    async readFirstLine() {
      const [line] = (await Promise.race([firstLine, exited])) as [string];
      return JSON.parse(line) as Record<string, unknown>;
    },
    async request<Reply>(message: object) {
      const reply = once(child, "message");
      child.send(message);
      const [received] = await Promise.race([reply, exited]);
      return received as Reply;
    },
    async stop() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      child.kill("SIGTERM");
      const limit = setTimeout(() => child.kill("SIGKILL"), STOP_LIMIT_MS);
      await once(child, "exit");
      clearTimeout(limit);
    },
  };
}

/** Rejects when the process exits; marked as handled, because most callers await it only in a race. */
function failOnExit(child: ChildProcess): Promise<never> {
  const { promise, reject } = Promise.withResolvers<never>();
  child.once("error", (error) => reject(new Error("The benchmark requires Linux with taskset.", { cause: error })));
  child.once("exit", (code, signal) => reject(new Error(`${child.spawnargs.join(" ")} exited (${code ?? signal}).`)));
  promise.catch(() => {});
  return promise;
}
