#!/usr/bin/env node
import { runCli } from "./run-cli.ts";

const controller = new AbortController();
for (const name of ["SIGINT", "SIGTERM"] as const) {
  // Not `once`: execa ends this process on a second signal when the signal has no listener.
  process.on(name, () => {
    // A second signal stops immediately.
    if (controller.signal.aborted) process.exit(2);
    controller.abort(new Error(`Stopped by ${name}.`));
  });
}

process.exitCode = await runCli(process.argv.slice(2), { env: process.env, signal: controller.signal });
