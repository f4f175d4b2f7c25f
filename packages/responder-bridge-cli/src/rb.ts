#!/usr/bin/env node
import { runCli } from "./run-cli.ts";

const controller = new AbortController();
for (const name of ["SIGINT", "SIGTERM"] as const) {
  // Not `once`: who watches over the tool's process ends ours where nobody listens any more.
  process.on(name, () => {
    // Whoever asks again does not want to wait.
    if (controller.signal.aborted) process.exit(2);
    controller.abort(new Error(`Stopped by ${name}.`));
  });
}

process.exitCode = await runCli(process.argv.slice(2), { env: process.env, signal: controller.signal });
