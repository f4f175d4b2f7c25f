import type { Writable } from "node:stream";
import { withTimeout } from "@hak2i/async-kit";
import { makePrivateDirectory } from "@hak2i/nofollow-fs";
import { execa } from "execa";
import type { Sandbox } from "#contract";
import { createLineSplitter, type LineListener } from "./lines.ts";
import { type OutputFile, openOutputFile } from "./output-file.ts";
import { labelCommand, labeledSpawnError } from "./process-labels.ts";
import { confine, confinedEnvironment, confinedExit, confinedSpawnError, terminateConfined } from "./sandboxed-process.ts";
import { sweepGraceMs, sweepTask, taskMarker, waitForSandbox } from "./sweep-processes.ts";

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
/** A chunk of output from this size on is the last one of its event-loop turn. Libuv would read 32 of them in a row. */
const FULL_CHUNK_BYTES = 16 * 1024;
/** Event-loop turns that read the rest of the pipes at the end. A pipe of 1 MiB, the maximum for ordinary users, needs fewer. */
const LAST_TURNS = 32;
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
  workspace: string;
  /** Holds it to those three directories; null: nothing does. */
  sandbox: Sandbox | null;
  /** What it reads from stdin, which then is closed; or who holds a conversation with it there and closes it in the end. */
  input: string | ((stdin: Writable) => void);
  onLine: LineListener;
  /** Called after the lines of each chunk, so that they can be passed on together. */
  onChunkEnd?: (() => void) | undefined;
  /**
   * What its stdout is; "pipe" by default. A program that exits without waiting for the reader of a pipe loses nothing in a file. That may grow
   * over its limit by as much as the program writes before it is looked at again.
   */
  stdout?: "pipe" | "file";
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
  /** Processes that outlived it and were killed. In a sandbox none does. */
  orphansKilled: number;
  /** Processes that outlived it and could not be killed. */
  orphansLeft: number;
}

/** Runs one program to its end; resolves when it and all its descendants are gone, whatever they hold open. */
export async function runProcess(options: ProcessOptions): Promise<ProcessEnd> {
  if (options.signal.aborted) return { ...notStarted, aborted: true };
  let file: OutputFile | null;
  try {
    makePrivateDirectory(options.tmp);
    file = options.stdout === "file" ? await openOutputFile(options.tmp) : null;
  } catch (error) {
    return { ...notStarted, spawnError: (error as Error).message };
  }
  try {
    return await runInto(file, options);
  } finally {
    await file?.close();
  }
}

async function runInto(file: OutputFile | null, options: ProcessOptions): Promise<ProcessEnd> {
  const { taskId, tmp, home, signal } = options;
  const limits: ProcessLimits = { ...processLimits, ...options.limits };
  const { argv, label } = await labelCommand(options);
  const { subprocess, spawnError } = await start({ ...options, argv }, file?.fd ?? "pipe");
  if (subprocess === null) return { ...notStarted, spawnError };

  const isConfined = options.sandbox !== null;
  const stopper = createStopper(subprocess, { killAfterMs: limits.killAfterMs, isConfined });
  const { onLine, onChunkEnd } = options;
  const output = collectOutput(subprocess, file, { onLine, onChunkEnd, limits, stop: stopper.stop });
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

  const exit = await exitOf(subprocess);
  signal.removeEventListener("abort", abort);
  // Pipes may be held by descendants that escaped, so the end of the output waits for the sweep and no longer.
  const [swept] = await Promise.all([
    // With the process of a sandbox all others are dying.
    isConfined ? waitForSandbox(subprocess.pid as number) : sweepTask({ taskId, tmp, home, label, graceMs: stopper.graceLeftMs() }),
    withTimeout(output.pipesEnded, limits.drainMs, () => {}),
  ]);
  stopper.finish();
  const { limit, stderr } = await output.close();
  const [exitCode, exitSignal] = isConfined ? confinedExit(...exit) : exit;
  return {
    spawnError: isConfined ? confinedSpawnError(exitCode, stderr) : labeledSpawnError(options.argv[0] ?? "", exitCode, stderr),
    exitCode,
    exitSignal,
    aborted,
    limit,
    stderr,
    orphansKilled: swept.killed,
    orphansLeft: swept.left,
  };
}

type Subprocess = ReturnType<typeof spawn>;

async function start(
  options: ProcessOptions,
  stdout: number | "pipe",
): Promise<{ subprocess: Subprocess; spawnError: null } | { subprocess: null; spawnError: string }> {
  try {
    const subprocess = spawn(options, stdout);
    if (subprocess.pid !== undefined) return { subprocess, spawnError: null };
    const failed = await subprocess;
    return { subprocess: null, spawnError: failed.originalMessage ?? failed.shortMessage ?? "The program did not start." };
  } catch (error) {
    // What no program can be given, such as an argument with a NUL.
    return { subprocess: null, spawnError: (error as Error).message };
  }
}

function spawn({ sandbox, ...options }: ProcessOptions, stdout: number | "pipe") {
  const { cwd, env, taskId, tmp, home } = options;
  const [program = "", ...programArguments] = sandbox === null ? options.argv : confine(sandbox, options);
  return execa(program, programArguments, {
    cwd,
    env: { ...(sandbox === null ? env : confinedEnvironment(env)), [taskMarker]: taskId, TMPDIR: tmp, HOME: home },
    extendEnv: false,
    // Any descriptor will do; its type names a few.
    stdout: stdout as 3 | "pipe",
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
function createStopper(subprocess: Subprocess, { killAfterMs, isConfined }: { killAfterMs: number; isConfined: boolean }) {
  let stoppedAt: number | null = null;
  let killTimer: NodeJS.Timeout | undefined;
  return {
    stop() {
      if (stoppedAt !== null) return;
      stoppedAt = performance.now();
      if (!isConfined) subprocess.kill("SIGTERM");
      else if (!terminateConfined(subprocess.pid as number)) subprocess.kill("SIGKILL");
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

/** Reads both outputs within the limits; `close()` no longer waits for those who hold them open. */
function collectOutput(
  { stdout, stderr }: Subprocess,
  file: OutputFile | null,
  { onLine, onChunkEnd, limits, stop }: Pick<ProcessOptions, "onLine" | "onChunkEnd"> & { limits: ProcessLimits; stop: () => void },
) {
  const splitter = createLineSplitter(limits.lineBytes, onLine);
  let limit: ProcessEnd["limit"] = null;
  let bug: { error: unknown } | null = null;
  let stdoutBytes = 0;
  let stderrEnd: Buffer = Buffer.alloc(0);

  // An error of whoever listens or speaks must neither be lost, nor leave the program running, nor take Bridge down from inside a stream.
  const fail = (error: unknown): void => {
    bug ??= { error };
    stop();
  };
  const guard = (act: () => void): void => {
    if (bug !== null) return;
    try {
      act();
    } catch (error) {
      fail(error);
    }
  };
  const take = (chunk: Buffer): void => {
    if (limit !== null) return;
    const room = limits.stdoutBytes - stdoutBytes;
    stdoutBytes += chunk.length;
    guard(() => {
      if (!splitter.push(chunk.subarray(0, room))) limit = "lineBytes";
      else if (chunk.length > room) limit = "stdoutBytes";
      onChunkEnd?.();
    });
    if (limit !== null) stop();
  };
  const closing = new AbortController();
  const takeFile = async (from: OutputFile): Promise<void> => {
    for await (const chunk of from.chunks(closing.signal)) {
      take(chunk);
      // Unlike a pipe, a file does not hold up who writes more than is read.
      if (limit !== null || bug !== null) await from.empty();
    }
  };
  const fileRead = file === null ? null : takeFile(file).catch(fail);
  stdout?.on("data", (chunk: Buffer) => {
    take(chunk);
    if (chunk.length < FULL_CHUNK_BYTES) return;
    stdout.pause();
    setImmediate(() => stdout.resume());
  });
  stderr.on("data", (chunk: Buffer) => {
    stderrEnd = Buffer.concat([stderrEnd, chunk]).subarray(-limits.stderrBytes);
  });

  const pipes = [stdout, stderr].filter((stream) => stream !== null);
  return {
    guard,
    pipesEnded: Promise.all(pipes.map((pipe) => new Promise((resolve) => pipe.once("close", resolve)))),
    async close() {
      // Timers run before the reads of their turn, so further turns are needed to read the rest of the pipes.
      for (let turn = 0, seen = -1; turn < LAST_TURNS && seen !== stdoutBytes; turn += 1) {
        seen = stdoutBytes;
        await new Promise(setImmediate);
        // A pause ends in the turn after its chunk.
        if (stdout?.isPaused() === true) await new Promise(setImmediate);
      }
      for (const pipe of pipes) pipe.destroy();
      closing.abort();
      await fileRead;
      guard(() => {
        splitter.end();
        onChunkEnd?.();
      });
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
