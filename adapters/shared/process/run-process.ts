import { existsSync } from "node:fs";
import path from "node:path";
import type { Writable } from "node:stream";
import { withTimeout } from "@hak2i/async-kit";
import { makePrivateDirectory } from "@hak2i/nofollow-fs";
import type { Sandbox } from "#contract";
import { collectOutput } from "./collect-output.ts";
import { TASK_MARKER } from "./find-processes.ts";
import type { LineEncoding, LineListener, LongLineListener } from "./lines.ts";
import { type OutputFile, openOutputFile } from "./output-file.ts";
import { labelCommand, parseLabeledSpawnError } from "./process-labels.ts";
import { type StartedProgram, startProgram } from "./program-starter.ts";
import {
  convertSandboxedExit,
  createSandboxCommand,
  createSandboxEnvironment,
  parseSandboxedSpawnError,
  terminateSandboxed,
} from "./sandboxed-process.ts";
import { signalGroup } from "./signal-group.ts";
import { SWEEP_GRACE_MS, type Sweep, sweepTask, waitForSandbox } from "./sweep-processes.ts";
import { type RequestTrace, withTraceContext } from "./trace-environment.ts";

/** Limits of a process. */
export const PROCESS_LIMITS = {
  lineBytes: 8 * 1024 ** 2,
  stdoutBytes: 32 * 1024 ** 2,
  /** The last bytes of stderr that are kept. */
  stderrBytes: 64 * 1024,
  /** Time from SIGTERM to SIGKILL. */
  killAfterMs: 5_000,
  /** How long output is read after the exit. */
  drainMs: 1_000,
} as const;
/** Limits of a program that reports events in JSON, which are several times as long as their text. */
export const JSON_OUTPUT_LIMITS = { ...PROCESS_LIMITS, stdoutBytes: 8 * PROCESS_LIMITS.stdoutBytes } as const;
type ProcessLimits = { readonly [Name in keyof typeof PROCESS_LIMITS]: number };

/** The starter opens the output file through `/proc`, because the file has no name. */
const CAN_SHARE_FILES = existsSync("/proc/self/fd");

/** The program to run, and the task that it runs for. */
export interface ProcessOptions {
  /** The program and its arguments. Started without a shell. */
  argv: readonly string[];
  cwd: string;
  /** The whole environment, except the task marker, TMPDIR and HOME. Nothing else is inherited. */
  env: Readonly<Record<string, string>>;
  taskId: string;
  /** The trace context of the task, which the process gets in its environment. */
  trace?: RequestTrace;
  tmp: string;
  home: string;
  workspace: string;
  /** Restricts the process to the three directories above; null: no restriction. */
  sandbox: Sandbox | null;
  /** The text for stdin, which is closed after it; or a function that writes to stdin and closes it. */
  input: string | ((stdin: Writable) => void);
  /** How the lines are decoded. Default: `utf8`. */
  encoding?: LineEncoding;
  onLine: LineListener;
  /** Called for a line over the limit. Default: the process is stopped. */
  onLongLine?: LongLineListener | undefined;
  /** Called once, before the first line of stdout with bytes that are not UTF-8. */
  onInvalidText?: (() => void) | undefined;
  /** Called for each line of stderr that is not longer than `stderrBytes`. */
  onErrorLine?: LineListener | undefined;
  /** Called after the lines of each chunk, so that the caller can process them together. */
  onChunkEnd?: (() => void) | undefined;
  /**
   * Where the program writes its output. Default: "pipe". If a program exits before its pipe is read, output is lost; output in a file is
   * not. The file can exceed the limit by the amount that the program writes between two reads. Without `/proc`, "file" is the same as
   * "pipe".
   */
  stdout?: "pipe" | "file";
  /**
   * Set for programs of Bridge itself, such as git, whose descendants end with them. Bridge searches for descendants only if it has
   * stopped the program. Default: false.
   */
  isBridgeProgram?: boolean;
  /** Stops the process and all its descendants when aborted. */
  signal: AbortSignal;
  limits?: Partial<ProcessLimits>;
}

/** How a process ended. */
export interface ProcessEnd {
  /** The file name of the program, for error messages. */
  program: string;
  /** Why the process did not start; null if it did. */
  spawnError: string | null;
  exitCode: number | null;
  exitSignal: NodeJS.Signals | null;
  /** True if the signal stopped the process. */
  aborted: boolean;
  /** The limit that the process exceeded, so that it was stopped. */
  limit: "lineBytes" | "stdoutBytes" | null;
  /** The end of stderr. */
  stderr: string;
  /** Number of processes that outlived it and were killed. Always 0 in a sandbox. */
  orphansKilled: number;
  /** Number of processes that outlived it and could not be killed. */
  orphansLeft: number;
}

/** Runs a program. Resolves when the process and all its descendants have ended, even if one still holds a pipe open. */
export async function runProcess(options: ProcessOptions): Promise<ProcessEnd> {
  if (options.signal.aborted) return { ...createProcessEnd(options), aborted: true };
  let file: OutputFile | null;
  try {
    makePrivateDirectory(options.tmp);
    file = options.stdout === "file" && CAN_SHARE_FILES ? await openOutputFile(options.tmp) : null;
  } catch (error) {
    return { ...createProcessEnd(options), spawnError: (error as Error).message };
  }
  try {
    return await runWithOutput(file, options);
  } finally {
    await file?.close();
  }
}

async function runWithOutput(file: OutputFile | null, options: ProcessOptions): Promise<ProcessEnd> {
  const { taskId, tmp, home, isBridgeProgram = false, signal } = options;
  const limits: ProcessLimits = { ...PROCESS_LIMITS, ...options.limits };
  const { argv, label } = isBridgeProgram ? { argv: options.argv, label: null } : await labelCommand(options);
  const { program, spawnError } = await start({ ...options, argv }, file?.path ?? null);
  if (program === null) return { ...createProcessEnd(options), spawnError };

  const isSandboxed = options.sandbox !== null;
  const stopper = createStopper(program, { killAfterMs: limits.killAfterMs, isSandboxed });
  const output = collectOutput(program, file, { ...options, limits, stop: stopper.stop });
  let aborted = false;
  const abort = (): void => {
    aborted = true;
    stopper.stop();
  };
  signal.addEventListener("abort", abort, { once: true });
  // The signal may have aborted before the listener was added.
  if (signal.aborted) abort();
  const { input } = options;
  if (typeof input === "string") program.stdin.end(input);
  else output.guard(() => input(program.stdin));

  const exit = await program.exited;
  signal.removeEventListener("abort", abort);
  // A descendant that left the process group may hold the pipes open, so the wait for the end of the output is limited.
  const sweepDescendants = async (): Promise<Sweep> => {
    if (isBridgeProgram && !stopper.isStopped()) return { killed: 0, left: 0 };
    // When the first process of a sandbox ends, the kernel kills all others.
    if (isSandboxed) return await waitForSandbox(program.pid);
    return await sweepTask({ taskId, tmp, home, label, graceMs: stopper.remainingGraceMs() });
  };
  const [swept] = await Promise.all([sweepDescendants(), withTimeout(output.pipesEnded, limits.drainMs, () => {})]);
  stopper.finish();
  const { limit, stderr } = await output.close();
  const [exitCode, exitSignal] = isSandboxed ? convertSandboxedExit(...exit) : exit;
  return {
    ...createProcessEnd(options),
    spawnError: isSandboxed ? parseSandboxedSpawnError(exitCode, stderr) : parseLabeledSpawnError(options.argv[0] ?? "", exitCode, stderr),
    exitCode,
    exitSignal,
    aborted,
    limit,
    stderr,
    orphansKilled: swept.killed,
    orphansLeft: swept.left,
  };
}

async function start(
  { sandbox, ...options }: ProcessOptions,
  outputFile: string | null,
): Promise<{ program: StartedProgram; spawnError: null } | { program: null; spawnError: string }> {
  const { cwd, taskId, trace = {}, tmp, home } = options;
  const env = withTraceContext(options.env, trace);
  try {
    const program = await startProgram({
      argv: sandbox === null ? options.argv : createSandboxCommand(sandbox, options),
      cwd,
      tmp,
      env: { ...(sandbox === null ? env : createSandboxEnvironment(env)), [TASK_MARKER]: taskId, TMPDIR: tmp, HOME: home },
      outputFile,
    });
    return { program, spawnError: null };
  } catch (error) {
    return { program: null, spawnError: (error as Error).message };
  }
}

/** Stops a program and its process group: SIGTERM, a grace period, SIGKILL. */
function createStopper({ pid }: StartedProgram, { killAfterMs, isSandboxed }: { killAfterMs: number; isSandboxed: boolean }) {
  let stoppedAt: number | null = null;
  let killTimer: NodeJS.Timeout | undefined;
  return {
    stop() {
      if (stoppedAt !== null) return;
      stoppedAt = performance.now();
      if (!isSandboxed) signalGroup(pid, "SIGTERM");
      else if (!terminateSandboxed(pid)) signalGroup(pid, "SIGKILL");
      killTimer = setTimeout(() => signalGroup(pid, "SIGKILL"), killAfterMs);
    },
    isStopped: () => stoppedAt !== null,
    /** Returns what remains of the grace period, in ms. It also applies to descendants, because SIGTERM was sent to the whole group. */
    remainingGraceMs: () => (stoppedAt === null ? SWEEP_GRACE_MS : Math.max(killAfterMs - (performance.now() - stoppedAt), 0)),
    /** Kills the rest of the group after the program's exit. */
    finish() {
      stoppedAt ??= performance.now();
      clearTimeout(killTimer);
      signalGroup(pid, "SIGKILL");
    },
  };
}

/** Creates the end of a process that did not start. */
const createProcessEnd = ({ argv }: ProcessOptions): ProcessEnd => ({
  program: path.basename(argv[0] ?? ""),
  spawnError: null,
  exitCode: null,
  exitSignal: null,
  aborted: false,
  limit: null,
  stderr: "",
  orphansKilled: 0,
  orphansLeft: 0,
});
