import { setTimeout as delay } from "node:timers/promises";
import { isRunning, removeRun } from "./test-run.ts";

/**
 * The program that cleans up after a test run, however it ends: it outlives the process of the run, which holds the other end of its stdin.
 * vitest ends at once on SIGINT and SIGTERM, without any hook, and its workers leave the programs behind that tests have started.
 */
const [name = ""] = process.argv.slice(2);
const POLL_MS = 5;

// Ctrl-C goes to everything in the terminal.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => {});

process.stdin.resume().on("close", async () => {
  // It closes its files shortly before it ends, and its exit code counts.
  while (isRunning(name)) await delay(POLL_MS);
  await removeRun(name);
});
