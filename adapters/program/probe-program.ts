import { randomUUID } from "node:crypto";
import { rm } from "node:fs/promises";
import path from "node:path";
import { stopFailure } from "../process/process-failure.ts";
import { type ProcessEnd, type ProcessOptions, runProcess } from "../process/run-process.ts";
import type { ProgramContext } from "./agent-program.ts";

/** A program that has not answered by then is taken for broken; two after each other still fit into the time of a health check. */
const PROBE_LIMIT_MS = 7_000;

/** What a program answered. */
export interface ProbeAnswer {
  end: ProcessEnd;
  stdout: string;
}

/** Runs a program to ask it something about itself, in directories of the probe's own; rejects when it does not start or takes too long. */
export async function probeProgram(
  { dataDir, onOrphansKilled }: Pick<ProgramContext, "dataDir" | "onOrphansKilled">,
  call: Pick<ProcessOptions, "argv" | "env"> & { input?: ProcessOptions["input"]; onLine?(line: string): void; home?: string },
): Promise<ProbeAnswer> {
  const id = randomUUID();
  const tmp = path.join(dataDir, "probes", id);
  const lines: string[] = [];
  const limit = AbortSignal.timeout(PROBE_LIMIT_MS);
  try {
    const end = await runProcess({
      argv: call.argv,
      env: call.env,
      cwd: dataDir,
      taskId: `probe/${id}`,
      tmp,
      home: call.home ?? dataDir,
      input: call.input ?? "",
      onLine(line) {
        lines.push(line);
        call.onLine?.(line);
      },
      signal: limit,
      limits: { killAfterMs: 500 },
    });
    onOrphansKilled(end.orphansKilled);
    const failure = stopFailure(end);
    if (failure !== null) throw new Error(failure.error);
    if (end.aborted) throw new Error(`The program did not answer within ${PROBE_LIMIT_MS / 1000} s.`);
    return { end, stdout: lines.join("\n") };
  } finally {
    await rm(tmp, { recursive: true, force: true });
  }
}

/** The version in what a program prints for `--version`; rejects when it prints none. */
export async function probeVersion(
  context: ProgramContext,
  argv: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<string> {
  const { end, stdout } = await probeProgram(context, { argv: [...argv, "--version"], env });
  const version = /\d+\.\d+\.\d+[\w.+-]*/.exec(stdout)?.[0];
  if (end.exitCode !== 0 || version === undefined)
    throw new Error(`${argv.join(" ")} --version does not tell a version: ${`${stdout} ${end.stderr}`.trim().slice(0, 500)}`);
  return version;
}
