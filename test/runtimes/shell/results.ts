import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import type { ShellColumn } from "./columns.ts";

const directory = path.join(import.meta.dirname, "..", ".results", "shell");

/** What was seen of a command: it waited for an answer, it ran unasked, it did not run, or its dispatch was refused. */
export type Sight = "asked" | "ran" | "stopped" | "refused";

/** What one run of the suite has seen of one column. */
export interface ShellResult extends Pick<ShellColumn, "runtime" | "connection"> {
  version: string | null;
  /** By rights (`modify, ask`), then by command. */
  cells: Record<string, Record<string, Sight>>;
}

/** Keeps the cells of earlier runs that this one has not played. */
export function writeShellResult(result: ShellResult): void {
  const { runtime, connection } = result;
  const earlier = readShellResults().find((one) => one.runtime === runtime && one.connection === connection);
  mkdirSync(directory, { recursive: true });
  const merged: ShellResult = { ...result, cells: { ...earlier?.cells, ...result.cells } };
  writeFileSync(path.join(directory, `${runtime}-${connection}.json`), JSON.stringify(merged));
}

/** What the last runs have seen; empty before the first one. */
export function readShellResults(): ShellResult[] {
  if (!existsSync(directory)) return [];
  return readdirSync(directory).map((name) => JSON.parse(readFileSync(path.join(directory, name), "utf8")) as ShellResult);
}
