import { randomUUID } from "node:crypto";
import path from "node:path";
import { makePrivateDirectory, removeInside } from "@hak2i/nofollow-fs";
import { stopFailure } from "../process/process-failure.ts";
import { type ProcessEnd, type ProcessOptions, runProcess } from "../process/run-process.ts";
import type { ProgramContext } from "./agent-program.ts";
import { probeLimitMs } from "./probe-limit.ts";

/** For questions that take longer than a program's version. */
export const LONG_PROBE_LIMIT_MS = 20_000;

/** What a probe needs to know. */
export type ProbeContext = Pick<ProgramContext, "dataDir" | "sandbox" | "onOrphansKilled" | "closed"> & {
  settings?: Pick<ProgramContext["settings"], "probeSeconds">;
};

/** What a program answered. */
export interface ProbeAnswer {
  end: ProcessEnd;
  stdout: string;
}

/** How to ask a program. */
export interface ProbeCall extends Pick<ProcessOptions, "argv" | "env"> {
  input?: ProcessOptions["input"];
  onLine?(line: string): void;
  /** Default: one that all probes of the adapter share and no task sees. */
  home?: string;
  /** Default: the one of the operator, or of the machine. */
  limitMs?: number;
  /** Stops the probe before its limit. */
  signal?: AbortSignal;
}

/** Runs a program to ask it something about itself, in directories of the probe's own; rejects when it does not start or takes too long. */
export async function probeProgram(
  { dataDir, sandbox, onOrphansKilled, closed, settings = {} }: ProbeContext,
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
      // Some programs look for their caches wherever the adapter has told them to.
      workspace: dataDir,
      sandbox,
      input: call.input ?? "",
      onLine(line) {
        lines.push(line);
        call.onLine?.(line);
      },
      signal: AbortSignal.any([AbortSignal.timeout(limitMs), ...[signal, closed].filter((one) => one !== undefined)]),
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

/** The version in what a program prints for `--version`; rejects when it prints none. */
export async function probeVersion(
  context: ProbeContext,
  argv: readonly string[],
  env: Readonly<Record<string, string>>,
  limits: Pick<ProbeCall, "limitMs" | "signal"> = {},
): Promise<string> {
  const { end, stdout } = await probeProgram(context, { argv: [...argv, "--version"], env, ...limits });
  const version = /\d+\.\d+\.\d+[\w.+-]*/.exec(stdout)?.[0];
  if (end.exitCode !== 0 || version === undefined)
    throw new Error(`${argv.join(" ")} --version does not tell a version: ${`${stdout} ${end.stderr}`.trim().slice(0, 500)}`);
  return version;
}
