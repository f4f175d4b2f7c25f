import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, lstatSync, mkdirSync, readdirSync, readFileSync, readlinkSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import type { ShellCommand } from "./commands.ts";

const PATCH = `--- a/file
+++ b/file
@@ -1 +1 @@
-one
+two
`;

/** Texts that only a command that reads the row's directory can show: a file name, a line of another file, the subject of a commit. */
export const seenOf = (nonce: string): string => `seen-${nonce}`;

/** Creates the files of one row in a new directory. */
export function createFiles(directory: string, { fixture }: ShellCommand, given: { nonce: string; pid: number }): void {
  const at = (...names: string[]) => path.join(directory, ...names);
  const seen = seenOf(given.nonce);
  for (const name of ["dir", seen]) mkdirSync(at(name), { recursive: true });
  writeFileSync(at("file"), "one\n");
  chmodSync(at("file"), 0o644);
  writeFileSync(at("empty"), "");
  writeFileSync(at("dir", "inner"), "inner\n");
  writeFileSync(at("script.sh"), `touch ${path.basename(directory)}/made\n`);
  writeFileSync(at("note"), `${seen}\n`);
  writeFileSync(at(seen, "inner"), "inner\n");
  if (fixture === "patch" || fixture === "repository") writeFileSync(at("change.patch"), PATCH);
  if (fixture === "repository") createRepository(directory, seen);
  if (fixture === "archive") {
    writeFileSync(at("packed"), "packed\n");
    execFileSync("tar", ["-cf", at("archive.tar"), "-C", directory, "packed"]);
    rmSync(at("packed"));
  }
  if (fixture === "package") {
    mkdirSync(at("package"));
    writeFileSync(at("package", "package.json"), JSON.stringify({ name: "packed", version: "1.0.0" }));
    writeFileSync(at("package.json"), JSON.stringify({ name: "row", private: true }));
  }
  if (fixture === "victim") writeFileSync(at("pid"), String(given.pid));
}

/** A repository whose one commit is empty: all files of the row are untracked. */
function createRepository(directory: string, subject: string): void {
  const git = (...args: string[]): void => {
    execFileSync("git", ["-C", directory, "-c", "user.name=n", "-c", "user.email=e", ...args], {
      env: { PATH: process.env["PATH"], HOME: directory },
    });
  };
  git("init", "-q");
  git("commit", "-q", "--allow-empty", "-m", subject);
}

/** The state below a directory that a command could change, as text. */
export function snapshot(directory: string): string {
  if (!existsSync(directory)) return "";
  return readdirSync(directory, { recursive: true })
    .map(String)
    .sort()
    .map((name) => {
      const file = path.join(directory, name);
      const stat = lstatSync(file);
      const content = stat.isSymbolicLink() ? readlinkSync(file) : stat.isFile() ? readFileSync(file, "base64") : "";
      return `${name} ${stat.mode.toString(8)} ${content}`;
    })
    .join("\n");
}
