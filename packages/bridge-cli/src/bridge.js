#!/usr/bin/env node
import module from "node:module";
import { homedir } from "node:os";
import path from "node:path";

// This file is JavaScript, because Node loads its TypeScript compiler for a file that is not in the cache.
// Only this user can write there, so no other user can change the code that runs. Without a cache, every start would compile the code.
const cache = process.env["XDG_CACHE_HOME"] || path.join(homedir(), ".cache");
module.enableCompileCache(path.join(cache, "bridge", "compile-cache"));
// A static import would load the code before the cache is enabled.
const { runCli } = await import("./run-cli.ts");
process.exitCode = await runCli(process.argv.slice(2), process);
