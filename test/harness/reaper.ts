import { setTimeout as delay } from "node:timers/promises";
import { isRunning, removeRun } from "./test-run.ts";

/**
 * Cleans up after a test run, however the run ends. The reaper outlives the process of the run, which holds the other end of its stdin.
 * vitest exits immediately on SIGINT and SIGTERM without running hooks, and its workers leave behind the programs that tests started.
 */
const [name = ""] = process.argv.slice(2);
const POLL_MS = 5;

// Ctrl-C signals every process in the terminal.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => {});

process.stdin.resume().on("close", async () => {
  // The process of the run closes its files shortly before it exits. Killing it then would change its exit code.
  while (isRunning(name)) await delay(POLL_MS);
  await removeRun(name);
});
