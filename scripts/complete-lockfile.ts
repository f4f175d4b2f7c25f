import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { completeLockfile, type Lockfile } from "./lockfile.ts";

const file = path.resolve(import.meta.dirname, "../package-lock.json");

const lockfile = JSON.parse(readFileSync(file, "utf8")) as Lockfile;
const added = completeLockfile(lockfile);
if (added.length > 0) writeFileSync(file, `${JSON.stringify(lockfile, null, 2)}\n`);
console.log(added.length === 0 ? "The lock file names every platform package." : `Added:\n${added.map((name) => `  ${name}`).join("\n")}`);
