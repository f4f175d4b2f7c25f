import { createHash } from "node:crypto";
import { globSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";

/** The file that a passed run of the whole suite writes. */
const passedFile = path.join(import.meta.dirname, "passed.json");

/**
 * The adapters and the packages that they use, what Bridge gives them and makes of their answers, their versions, the tests, and the pages
 * with their tables. The store, the server and the scheduler are no part of it: their own suites test them with scripted programs.
 */
const inputs = [
  "adapters/**/*",
  "packages/{async-kit,council,nofollow-fs,responder-*}/src/**/*",
  "src/{approvals,contract,pricing,registry,requests,results,workspaces}/**/*",
  "src/dispatch/{end,run}/**/*",
  "src/app/configure-adapter.ts",
  "test/runtimes/**/*.{ts,js,json}",
  "test/conformance/adapter.ts",
  "docs/{runtimes,shell-commands}.md",
  "package-lock.json",
];
const excluded = ["**/node_modules", "test/runtimes/.results", "test/runtimes/passed.json", "adapters/**/*.md"];

/** Returns a hash of the names and contents of all inputs. */
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
