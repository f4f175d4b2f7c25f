import { constants } from "node:os";
import type { Sandbox } from "#contract";
import { findProgram } from "./find-program.ts";
import { listPids, readProcess, signal } from "./process-table.ts";
import { variablePrefix, waiterName } from "./sandbox.ts";

/** What runs in a sandbox. */
export interface ConfinedCall {
  argv: readonly string[];
  env: Readonly<Record<string, string>>;
  cwd: string;
  workspace: string;
  home: string;
  tmp: string;
}

/** The argument list with which a program starts in its sandbox; throws, as a start does, where there is no such program. */
export function confine(sandbox: Sandbox, { argv: [name = "", ...rest], env, cwd, workspace, home, tmp }: ConfinedCall): string[] {
  const program = findProgram(name, env["PATH"] ?? "");
  if (program === null) throw new Error(`spawn ${name} ENOENT`);
  return sandbox.wrap([program, ...rest], { cwd, tmp, writable: [workspace, home] });
}

/** Variables that cannot change the programs that create the sandbox, which look nothing up on the PATH. */
const keptVariables = ["PATH", "LANG"];

/**
 * Returns the environment that starts a sandbox whose program gets the given environment. A dispatch may name variables for an MCP server, and some,
 * such as LD_PRELOAD, would run code of the task in the programs that create the sandbox, which run outside of it.
 */
export function confinedEnvironment(env: Readonly<Record<string, string>>): Record<string, string> {
  const [kept, moved] = [true, false].map((isKept) => Object.entries(env).filter(([name]) => keptVariables.includes(name) === isKept));
  // A shell drops variables with other names, too.
  const named = moved?.filter(([name]) => /^[A-Za-z_]\w*$/.test(name)) ?? [];
  return Object.fromEntries([...(kept ?? []), ...named.map(([name, value], index) => [`${variablePrefix}${index}`, `${name}=${value}`])]);
}

/**
 * Asks the program of a sandbox and what it has started to end, with SIGTERM; false when the program has not begun yet.
 * The sandbox itself is spared: of a signal it would die at once, and take along those who still tidy up.
 */
export function terminateConfined(sandboxPid: number): boolean {
  const group = listPids()
    .map(readProcess)
    .filter((found) => found !== null)
    .filter((found) => found.group === sandboxPid);
  // The init, and under it the shell that waits; orphans come to the init, too, and the shell ends them after the program.
  const init = group.find(({ parent }) => parent === sandboxPid)?.pid;
  const inside = group.filter(({ pid, parent }) => pid !== sandboxPid && parent !== sandboxPid && parent !== init);
  for (const found of inside) signal(found, "SIGTERM");
  return inside.length > 0;
}

const signalNames = new Map(Object.entries(constants.signals).map(([name, number]) => [number, name as NodeJS.Signals]));

/** How the program of a sandbox ended: a sandbox tells a signal as a number. */
export function confinedExit(exitCode: number | null, exitSignal: NodeJS.Signals | null): [number | null, NodeJS.Signals | null] {
  const told = exitCode === null ? undefined : signalNames.get(exitCode - 128);
  return told === undefined ? [exitCode, exitSignal] : [null, told];
}

/** Why a sandbox could not start its program; null when it did. */
export const confinedSpawnError = (exitCode: number | null, stderr: string): string | null =>
  (exitCode === 126 || exitCode === 127) && stderr.startsWith(`${waiterName}: `) ? stderr.trim() : null;
