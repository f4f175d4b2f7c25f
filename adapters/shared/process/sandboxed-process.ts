import { constants } from "node:os";
import type { Sandbox } from "#contract";
import { findProgram } from "./find-program.ts";
import { listPids, readProcess, sendSignal } from "./process-table.ts";
import { VARIABLE_PREFIX, WAITER_NAME } from "./sandbox.ts";

/** A program to run in a sandbox. */
export interface SandboxedCommand {
  argv: readonly string[];
  env: Readonly<Record<string, string>>;
  cwd: string;
  workspace: string;
  home: string;
  tmp: string;
}

/** Returns the argument list that starts a program in its sandbox. Throws the error of a failed spawn if the program does not exist. */
export function createSandboxCommand(
  sandbox: Sandbox,
  { argv: [name = "", ...rest], env, cwd, workspace, home, tmp }: SandboxedCommand,
): string[] {
  const program = findProgram(name, env["PATH"] ?? "");
  if (program === null) throw new Error(`spawn ${name} ENOENT`);
  return sandbox.wrap([program, ...rest], { cwd, tmp, writable: [workspace, home] });
}

/** Variables that are safe for the programs that create the sandbox. They do not look up programs on PATH. */
const SAFE_VARIABLES = ["PATH", "LANG"];

/**
 * Returns the environment for the programs that create a sandbox. It contains `env` for the program in the sandbox, but
 * under other names: a dispatch may set variables for an MCP server, and a variable such as LD_PRELOAD would run code
 * of the task in the programs that create the sandbox, which run outside of it.
 */
export function createSandboxEnvironment(env: Readonly<Record<string, string>>): Record<string, string> {
  const [safe, others] = [true, false].map((isSafe) => Object.entries(env).filter(([name]) => SAFE_VARIABLES.includes(name) === isSafe));
  // The shell cannot export variables with other names.
  const renamed = others?.filter(([name]) => /^[A-Za-z_]\w*$/.test(name)) ?? [];
  return Object.fromEntries([
    ...(safe ?? []),
    ...renamed.map(([name, value], index) => [`${VARIABLE_PREFIX}${index}`, `${name}=${value}`]),
  ]);
}

/**
 * Sends SIGTERM to the program of a sandbox and its descendants. Returns false if the program has not started yet. The
 * processes of the sandbox itself get no signal, because they would exit at once and the kernel would kill the program
 * without a grace period.
 */
export function terminateSandboxed(sandboxPid: number): boolean {
  const group = listPids()
    .map(readProcess)
    .filter((found) => found !== null)
    .filter((found) => found.group === sandboxPid);
  // The children of the init process are the waiting shell and orphans. The shell stops the orphans after the program.
  const init = group.find(({ parent }) => parent === sandboxPid)?.pid;
  const inside = group.filter(({ pid, parent }) => pid !== sandboxPid && parent !== sandboxPid && parent !== init);
  for (const found of inside) sendSignal(found, "SIGTERM");
  return inside.length > 0;
}

const SIGNAL_NAMES = new Map(Object.entries(constants.signals).map(([name, number]) => [number, name as NodeJS.Signals]));

/** Converts the exit of a sandbox to that of its program. A sandbox reports a signal as an exit code. */
export function convertSandboxedExit(exitCode: number | null, exitSignal: NodeJS.Signals | null): [number | null, NodeJS.Signals | null] {
  const programSignal = exitCode === null ? undefined : SIGNAL_NAMES.get(exitCode - 128);
  return programSignal === undefined ? [exitCode, exitSignal] : [null, programSignal];
}

/** Returns why a sandbox could not start its program; null if it started. */
export const parseSandboxedSpawnError = (exitCode: number | null, stderr: string): string | null =>
  (exitCode === 126 || exitCode === 127) && stderr.startsWith(`${WAITER_NAME}: `) ? stderr.trim() : null;
