import { randomUUID } from "node:crypto";
import path from "node:path";
import { makePrivateDirectory, removeInside } from "@hak2i/nofollow-fs";
import { stopFailure } from "../process/process-failure.ts";
import { type ProcessEnd, type ProcessOptions, runProcess } from "../process/run-process.ts";
import type { ProgramContext } from "./agent-program.ts";
import { probeLimitMs } from "./probe-limit.ts";

/** Limit of probes that take longer than `--version`. */
export const LONG_PROBE_LIMIT_MS = 20_000;

/** The parts of the context that a probe uses. */
export type ProbeContext = Pick<ProgramContext, "dataDir" | "sandbox" | "onOrphansKilled" | "shutdownSignal"> & {
  settings?: Pick<ProgramContext["settings"], "probeSeconds">;
};

/** The output of a probe and how its process ended. */
export interface ProbeAnswer {
  end: ProcessEnd;
  stdout: string;
}

/** The command of a probe and its options. */
export interface ProbeCall extends Pick<ProcessOptions, "argv" | "env"> {
  input?: ProcessOptions["input"];
  onLine?(line: string): void;
  /** Default: a home that the probes of the adapter share and no task sees. */
  home?: string;
  /** Default: `probeLimitMs`. */
  limitMs?: number;
  /** Stops the probe before its limit. */
  signal?: AbortSignal;
}

/** Runs a program in its own directories, for example to read its version. Rejects if it does not start or exceeds a limit. */
export async function probeProgram(
  { dataDir, sandbox, onOrphansKilled, shutdownSignal, settings = {} }: ProbeContext,
  { limitMs = probeLimitMs(settings), signal, ...call }: ProbeCall,
): Promise<ProbeAnswer> {
  const id = randomUUID();
  const probes = path.join(dataDir, "probes");
  const ownHome = path.join(probes, "home");
  const tmp = path.join(probes, id);
  const lines: string[] = [];
  makePrivateDirectory(ownHome);
  try {
    const end = await runProcess({
      argv: call.argv,
      env: call.env,
      cwd: ownHome,
      taskId: `probe/${id}`,
      tmp,
      home: call.home ?? ownHome,
      // An adapter can place the caches of its program anywhere in the data directory.
      workspace: dataDir,
      sandbox,
      input: call.input ?? "",
      onLine(line) {
        lines.push(line);
        call.onLine?.(line);
      },
      signal: AbortSignal.any([AbortSignal.timeout(limitMs), ...[signal, shutdownSignal].filter((one) => one !== undefined)]),
      limits: { killAfterMs: 500 },
    });
    onOrphansKilled(end.orphansKilled);
    const failure = stopFailure(end);
    if (failure !== null) throw new Error(failure.error);
    if (end.aborted) throw new Error(`The program did not answer within ${limitMs / 1000} s.`);
    return { end, stdout: lines.join("\n") };
  } finally {
    await removeInside(probes, id);
  }
}

/** Returns the version that a program prints for `--version`. Rejects if it prints none. */
export async function probeVersion(
  context: ProbeContext,
  argv: readonly string[],
  env: Readonly<Record<string, string>>,
  limits: Pick<ProbeCall, "limitMs" | "signal"> = {},
): Promise<string> {
  const { end, stdout } = await probeProgram(context, { argv: [...argv, "--version"], env, ...limits });
  const version = /\d+\.\d+\.\d+[\w.+-]*/.exec(stdout)?.[0];
  if (end.exitCode !== 0 || version === undefined) {
    const output = `${stdout} ${end.stderr}`.trim().slice(0, 500) || `it prints nothing and exits with ${end.exitCode}`;
    throw new Error(`${argv.join(" ")} --version prints no version: ${output}`);
  }
  return version;
}
