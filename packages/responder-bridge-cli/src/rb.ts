#!/usr/bin/env node
import { runCli } from "./run-cli.ts";

const controller = new AbortController();
for (const name of ["SIGINT", "SIGTERM"] as const) {
  // Once: whoever asks again does not want to wait.
  process.once(name, () => controller.abort(new Error(`Stopped by ${name}.`)));
}

process.exitCode = await runCli(process.argv.slice(2), { env: process.env, signal: controller.signal });
