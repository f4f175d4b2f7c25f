import type { Connection } from "#contract";
import type { BenchRuntime } from "../table/runtimes.ts";
import type { Hold } from "./expectation.ts";

/** One runtime over one connection, and how it restricts shell commands. */
export interface ShellColumn {
  runtime: BenchRuntime;
  connection: Connection;
  hold: Hold;
}

/** The columns of the table of commands, in its order. */
export const columns: readonly ShellColumn[] = [
  { runtime: "claude", connection: "acp", hold: "asks" },
  { runtime: "claude", connection: "cli", hold: "refuses" },
  { runtime: "claude-agent-sdk", connection: "in-process", hold: "asks" },
  { runtime: "codex", connection: "acp", hold: "sandbox" },
  { runtime: "codex", connection: "cli", hold: "sandbox" },
  { runtime: "gemini", connection: "acp", hold: "asks about changes" },
  { runtime: "gemini", connection: "cli", hold: "refuses" },
  { runtime: "opencode", connection: "http-api", hold: "asks" },
  { runtime: "opencode", connection: "cli", hold: "refuses" },
  { runtime: "openclaw", connection: "http-api", hold: "asks or refuses" },
  { runtime: "any-agent", connection: "acp", hold: "own judgment" },
];
