import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import type { ShellColumn } from "./columns.ts";

const directory = path.join(import.meta.dirname, "..", ".results", "shell");

/** The observation of a command: it waited for an approval, ran without one, did not run, or its dispatch was rejected. */
export type Sight = "asked" | "ran" | "stopped" | "refused";

/** The observations of one column in one run of the suite. */
export interface ShellResult extends Pick<ShellColumn, "runtime" | "connection"> {
  version: string | null;
  /** By rights (`modify, ask`), then by command. */
  cells: Record<string, Record<string, Sight>>;
}

/** Keeps the cells of earlier runs that this run has not played. */
export function writeShellResult(result: ShellResult): void {
  const { runtime, connection } = result;
  const earlier = readShellResults().find((one) => one.runtime === runtime && one.connection === connection);
  mkdirSync(directory, { recursive: true });
  const merged: ShellResult = { ...result, cells: { ...earlier?.cells, ...result.cells } };
  writeFileSync(path.join(directory, `${runtime}-${connection}.json`), JSON.stringify(merged));
}

/** The observations of the last runs; empty before the first run. */
export function readShellResults(): ShellResult[] {
  if (!existsSync(directory)) return [];
  return readdirSync(directory).map((name) => JSON.parse(readFileSync(path.join(directory, name), "utf8")) as ShellResult);
}
