import type { Connection } from "#contract";
import type { Runtime } from "./runtimes.ts";

/** A cell that a runtime cannot do, and why; it is listed, not played. */
export interface Exception {
  runtime: Runtime;
  connection: Connection;
  scenario: string;
  reason: string;
}

export const exceptions: readonly Exception[] = [];
