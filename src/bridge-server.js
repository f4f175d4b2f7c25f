#!/usr/bin/env node
import { checkNode } from "./check-node.js";

// The program of the npm package. Without arguments, it starts Bridge as `npm start` does in a clone. With arguments, it is the command
// line `bridge`, so that `npx` needs no second name.
checkNode();
if (process.argv.length === 2) await import("./start.js");
else {
  const { runCli } = await import("bridge-cli");
  process.exitCode = await runCli(process.argv.slice(2), process);
}
