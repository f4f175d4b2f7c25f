import { mkdirSync } from "node:fs";
import type { Writable } from "node:stream";
import { setTimeout as delay } from "node:timers/promises";
import { execa } from "execa";
import { createLineSplitter, type LineListener } from "./lines.ts";
import { sweepGraceMs, sweepTask, taskMarker } from "./sweep-processes.ts";

/** What a process may use before it is stopped, and how long stopping it may take. */
export const processLimits = {
  lineBytes: 8 * 1024 ** 2,
  stdoutBytes: 32 * 1024 ** 2,
  /** Only so much is kept of stderr: its end. */
  stderrBytes: 64 * 1024,
  /** From SIGTERM to SIGKILL. */
  killAfterMs: 5_000,
  /** How long after the exit its output may still come in. */
  drainMs: 1_000,
} as const;
type ProcessLimits = { readonly [Name in keyof typeof processLimits]: number };

/** What to run, as which task. */
export interface ProcessOptions {
  /** The program and its arguments. No shell ever sees them. */
  argv: readonly string[];
  cwd: string;
  /** The whole environment but for the marker, TMPDIR and HOME: nothing else is inherited. */
  env: Readonly<Record<string, string>>;
  taskId: string;
  tmp: string;
  home: string;
  /** What it reads from stdin, which then is closed; or who holds a conversation with it there and closes it in the end. */
  input: string | ((stdin: Writable) => void);
  onLine: LineListener;
  /** Stops the process and all its descendants. */
  signal: AbortSignal;
  limits?: Partial<ProcessLimits>;
}

/** How it ended. */
export interface ProcessEnd {
  /** Why it did not even start, else null. */
  spawnError: string | null;
  exitCode: number | null;
  exitSignal: NodeJS.Signals | null;
  /** It was stopped because the signal asked for it. */
  aborted: boolean;
  /** It was stopped because it went over this limit. */
  limit: "lineBytes" | "stdoutBytes" | null;
  /** The end of what it wrote to stderr. */
  stderr: string;
  /** Processes that outlived it and were killed. */
  orphansKilled: number;
  /** Processes that outlived it and could not be killed. */
  orphansLeft: number;
}

/** Runs one program to its end; resolves when it and all its descendants are gone, whatever they hold open. */
export async function runProcess(options: ProcessOptions): Promise<ProcessEnd> {
  const { taskId, tmp, home, signal } = options;
  const limits: ProcessLimits = { ...processLimits, ...options.limits };
  if (signal.aborted) return { ...notStarted, aborted: true };
  const { subprocess, spawnError } = await start(options);
  if (subprocess === null) return { ...notStarted, spawnError };

  const stopper = createStopper(subprocess, limits.killAfterMs);
  const output = collectOutput(subprocess, options.onLine, limits, stopper.stop);
  let aborted = false;
  const abort = (): void => {
    aborted = true;
    stopper.stop();
  };
  signal.addEventListener("abort", abort, { once: true });
  // Called off while it was starting, when nobody was listening yet.
  if (signal.aborted) abort();
  // A program need not read its input; how it fares is told by its exit, not by a broken pipe.
  subprocess.stdin.on("error", () => {});
  const { input } = options;
  if (typeof input === "string") subprocess.stdin.end(input);
  else output.guard(() => input(subprocess.stdin));

  const [exitCode, exitSignal] = await exitOf(subprocess);
  signal.removeEventListener("abort", abort);
  // Pipes may be held by descendants that escaped, so the end of the output waits for the sweep and no longer.
  const [swept] = await Promise.all([
    sweepTask({ taskId, tmp, home, graceMs: stopper.graceLeftMs() }),
    Promise.race([output.ended, delay(limits.drainMs, undefined, { ref: false })]),
  ]);
  stopper.finish();
  const { limit, stderr } = await output.close();
  return { spawnError, exitCode, exitSignal, aborted, limit, stderr, orphansKilled: swept.killed, orphansLeft: swept.left };
}

type Subprocess = ReturnType<typeof spawn>;

async function start(
  options: ProcessOptions,
): Promise<{ subprocess: Subprocess; spawnError: null } | { subprocess: null; spawnError: string }> {
  try {
    const subprocess = spawn(options);
    if (subprocess.pid !== undefined) return { subprocess, spawnError: null };
    const failed = await subprocess;
    return { subprocess: null, spawnError: failed.originalMessage ?? failed.shortMessage ?? "The program did not start." };
  } catch (error) {
    // What no program can be given, such as an argument with a NUL.
    return { subprocess: null, spawnError: (error as Error).message };
  }
}

function spawn({ argv, cwd, env, taskId, tmp, home }: ProcessOptions) {
  const [program = "", ...programArguments] = argv;
  mkdirSync(tmp, { recursive: true, mode: 0o700 });
  return execa(program, programArguments, {
    cwd,
    env: { ...env, [taskMarker]: taskId, TMPDIR: tmp, HOME: home },
    extendEnv: false,
    buffer: false,
    reject: false,
    encoding: "buffer",
    // Its own process group, so that a signal reaches all of it and never ours.
    killDescendants: true,
    // The escalation is ours: it also reaches descendants that outlive the program itself.
    forceKillAfterDelay: false,
  });
}

const exitOf = ({ nodeChildProcess }: Subprocess): Promise<[number | null, NodeJS.Signals | null]> =>
  new Promise((resolve) => nodeChildProcess.once("exit", (code, signal) => resolve([code, signal])));

/** Stops a process group: SIGTERM, some time to tidy up, SIGKILL. */
function createStopper(subprocess: Subprocess, killAfterMs: number) {
  let stoppedAt: number | null = null;
  let killTimer: NodeJS.Timeout | undefined;
  return {
    stop() {
      if (stoppedAt !== null) return;
      stoppedAt = performance.now();
      subprocess.kill("SIGTERM");
      killTimer = setTimeout(() => subprocess.kill("SIGKILL"), killAfterMs);
    },
    /** What descendants still have to tidy up: they have had the SIGTERM of the group too. */
    graceLeftMs: () => (stoppedAt === null ? sweepGraceMs : Math.max(killAfterMs - (performance.now() - stoppedAt), 0)),
    /** The program has exited: nobody of its group stays. */
    finish() {
      stoppedAt ??= performance.now();
      clearTimeout(killTimer);
      subprocess.kill("SIGKILL");
    },
  };
}

/** Reads both pipes within the limits; `close()` no longer waits for those who hold them open. */
function collectOutput({ stdout, stderr }: Subprocess, onLine: LineListener, limits: ProcessLimits, stop: () => void) {
  const splitter = createLineSplitter(limits.lineBytes, onLine);
  let limit: ProcessEnd["limit"] = null;
  let bug: { error: unknown } | null = null;
  let stdoutBytes = 0;
  let stderrEnd: Buffer = Buffer.alloc(0);

  // An error of whoever listens or speaks must neither be lost, nor leave the program running, nor take Bridge down from inside a stream.
  const guard = (act: () => void): void => {
    if (bug !== null) return;
    try {
      act();
    } catch (error) {
      bug = { error };
      stop();
    }
  };
  stdout.on("data", (chunk: Buffer) => {
    if (limit !== null) return;
    const room = limits.stdoutBytes - stdoutBytes;
    stdoutBytes += chunk.length;
    guard(() => {
      if (!splitter.push(chunk.subarray(0, room))) limit = "lineBytes";
      else if (chunk.length > room) limit = "stdoutBytes";
    });
    if (limit !== null) stop();
  });
  stderr.on("data", (chunk: Buffer) => {
    stderrEnd = Buffer.concat([stderrEnd, chunk]).subarray(-limits.stderrBytes);
  });

  return {
    guard,
    ended: Promise.all([stdout, stderr].map((stream) => new Promise((resolve) => stream.once("close", resolve)))),
    async close() {
      // A timer runs before the reads of its turn: one more turn takes in what the pipes still hold.
      await new Promise(setImmediate);
      stdout.destroy();
      stderr.destroy();
      guard(() => splitter.end());
      if (bug !== null) throw bug.error;
      return { limit, stderr: stderrEnd.toString("utf8") };
    },
  };
}

const notStarted: ProcessEnd = {
  spawnError: null,
  exitCode: null,
  exitSignal: null,
  aborted: false,
  limit: null,
  stderr: "",
  orphansKilled: 0,
  orphansLeft: 0,
};
