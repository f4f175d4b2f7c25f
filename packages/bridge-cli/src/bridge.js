#!/usr/bin/env node
import module from "node:module";
import { homedir } from "node:os";
import path from "node:path";

// An older Node fails while it loads the code, with an error that does not name the cause. A test compares this version with the manifest.
const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
if (major < 22 || (major === 22 && minor < 19)) {
  console.error(
    `bridge: Node ${process.versions.node} is too old: bridge needs Node 22.19 or newer.
Install it, for example from https://nodejs.org. In a clone of Bridge, run: npm ci && npm rebuild, and then: npx bridge`,
  );
  process.exit(1);
}

// This file is JavaScript, because Node loads its TypeScript compiler for a file that is not in the cache.
// Only this user can write there, so no other user can change the code that runs. Without a cache, every start would compile the code.
const cache = process.env["XDG_CACHE_HOME"] || findHomeCache();
if (cache !== null) module.enableCompileCache(path.join(cache, "bridge", "compile-cache"));
// A static import would load the code before the cache is enabled.
const { runCli } = await import("./run-cli.ts");
process.exitCode = await runCli(process.argv.slice(2), process);

/** A user without an entry in the list of users, for example in a container, has no home. */
function findHomeCache() {
  try {
    return path.join(homedir(), ".cache");
  } catch {
    return null;
  }
}
