import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import type { Connection } from "#contract";
import type { Runtime } from "./runtimes.ts";

const directory = path.join(import.meta.dirname, "..", ".results");

/** The observations of one runtime over one connection in one run of the suite. */
export interface ColumnResult {
  runtime: Runtime;
  connection: Connection;
  version: string | null;
  /** Names of the scenarios that passed. */
  held: string[];
  cancelMs: number[];
}

export function writeResult(result: ColumnResult): void {
  mkdirSync(directory, { recursive: true });
  writeFileSync(path.join(directory, `${result.runtime}-${result.connection}.json`), JSON.stringify(result));
}

/** The observations of the last runs; empty before the first run. */
export function readResults(): ColumnResult[] {
  if (!existsSync(directory)) return [];
  const names = readdirSync(directory).filter((name) => name.endsWith(".json"));
  return names.map((name) => JSON.parse(readFileSync(path.join(directory, name), "utf8")) as ColumnResult);
}
