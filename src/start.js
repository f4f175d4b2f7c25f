import { existsSync } from "node:fs";
import module from "node:module";
import path from "node:path";
import { pathToFileURL } from "node:url";
import v8 from "node:v8";
import { checkNode } from "./check-node.js";

checkNode();

// Node keeps compiled code, and TypeScript without its types, for the next start. The cache is next to the code, so that only users who
// can change the code can change the cache. If this user cannot write there, Bridge starts without a cache. This file is JavaScript,
// because Node loads its TypeScript compiler for a file that is not in the cache.
module.enableCompileCache(path.resolve(import.meta.dirname, "../node_modules/.cache/node-compile-cache"));
// Most objects of a start survive, so V8 would double its young generation several times, and an idle process would keep 20 MB that Bridge
// needs only under load. After the start, the young generation can grow.
v8.setFlagsFromString("--semi-space-growth-factor=1");
// A clone builds its console if the source has changed. The package contains the built console, and not this program. If the
// build fails, Bridge starts with the console that it has.
const consoleBuilder = path.resolve(import.meta.dirname, "../packages/console/build/ensure-built.ts");
if (existsSync(consoleBuilder)) (await import(pathToFileURL(consoleBuilder).href)).ensureBuilt();
// A static import would load the code before the cache is enabled.
await import("./main.ts");
v8.setFlagsFromString("--semi-space-growth-factor=2");
