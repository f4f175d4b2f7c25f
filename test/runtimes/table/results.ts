import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import type { Connection } from "#contract";
import type { Runtime } from "./runtimes.ts";

const directory = path.join(import.meta.dirname, "..", ".results");

/** What one run of the suite has seen of one runtime over one connection. */
export interface ColumnResult {
  runtime: Runtime;
  connection: Connection;
  version: string | null;
  /** Names of the scenarios that held. */
  held: string[];
  cancelMs: number[];
}

export function writeResult(result: ColumnResult): void {
  mkdirSync(directory, { recursive: true });
  writeFileSync(path.join(directory, `${result.runtime}-${result.connection}.json`), JSON.stringify(result));
}

/** What the last runs have seen; empty before the first one. */
export function readResults(): ColumnResult[] {
  if (!existsSync(directory)) return [];
  const names = readdirSync(directory).filter((name) => name.endsWith(".json"));
  return names.map((name) => JSON.parse(readFileSync(path.join(directory, name), "utf8")) as ColumnResult);
}
