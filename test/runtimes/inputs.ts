import { createHash } from "node:crypto";
import { globSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";

/** The file that a passed run of the whole suite writes. */
const passedFile = path.join(import.meta.dirname, "passed.json");

/** What decides what the programs do: the adapters, what Bridge gives them and makes of their answers, their versions, and the tests. */
const inputs = [
  "adapters/**/*",
  "src/{approvals,contract,workspaces}/**/*",
  "src/dispatch/run/**/*",
  "test/runtimes/**/*",
  "package-lock.json",
];
const excluded = ["**/node_modules", "test/runtimes/.results", "test/runtimes/passed.json", "**/*.md"];

/** Returns a hash of the names and contents of all files that decide what the programs do. */
export function hashInputs(repository: string): string {
  const hash = createHash("sha256");
  const entries = globSync(inputs, { cwd: repository, exclude: excluded, withFileTypes: true });
  const files = entries
    .filter((entry) => entry.isFile())
    .map((entry) => path.relative(repository, path.join(entry.parentPath, entry.name)));
  for (const file of files.toSorted())
    hash
      .update(`${file}\0`)
      .update(readFileSync(path.join(repository, file)))
      .update("\0");
  return hash.digest("hex");
}

/** The hash of the last whole run that passed; undefined before the first one. */
export function readPassedInputs(): string | undefined {
  try {
    return (JSON.parse(readFileSync(passedFile, "utf8")) as { inputs: string }).inputs;
  } catch {
    return undefined;
  }
}

/** Records that the whole suite has passed with these inputs. */
export function writePassedInputs(hash: string): void {
  writeFileSync(passedFile, `${JSON.stringify({ inputs: hash, passedOn: new Date().toISOString().slice(0, 10) }, null, 2)}\n`);
}
