import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { completeLockfile, type Lockfile } from "./lockfile.ts";

const repository = path.resolve(import.meta.dirname, "..");

for (const name of [
  "package-lock.json",
  "test/openapi/clients/package-lock.json",
  "test/runtimes/programs/package-lock.json",
  "bench/peers/package-lock.json",
]) {
  const file = path.join(repository, name);
  const lockfile = JSON.parse(readFileSync(file, "utf8")) as Lockfile;
  const added = completeLockfile(lockfile);
  if (added.length > 0) writeFileSync(file, `${JSON.stringify(lockfile, null, 2)}\n`);
  console.log(
    added.length === 0 ? `${name} lists every platform package.` : `Added to ${name}:\n${added.map((one) => `  ${one}`).join("\n")}`,
  );
}
