import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";

const repository = path.resolve(import.meta.dirname, "../..");

const ownData = "in the data directory, where no task may write";

/**
 * Files that may call functions of node:fs that change or open files, and why that is safe. A task may create links anywhere below its
 * home, workspace, output directory and TMPDIR, even between a check and its use, so all writes there use nofollow-fs.
 */
const allowed: Readonly<Record<string, { calls: readonly string[]; because: string }>> = {
  "src/cluster/node-identity.ts": { calls: ["openSync", "renameSync", "writeSync"], because: ownData },
  "src/access/add-token.ts": { calls: ["chownSync", "open", "rename", "rmSync"], because: "the operator's own file" },
  "src/app/check-config.ts": { calls: ["mkdtempDisposableSync"], because: "a new directory of the operator's command" },
  "src/store/maintenance/backup-file.ts": {
    calls: ["open", "openSync", "rename", "rmSync"],
    because: "a backup, where the operator wants it",
  },
  "src/store/maintenance/sqlite-restore.ts": { calls: ["chownSync", "copyFile", "rename", "rmSync"], because: ownData },
  "src/cluster/shared-files.ts": { calls: ["writeFileSync"], because: "the file is in the directory above those of the tasks" },
  "src/access/generated-token.ts": { calls: ["writeFileSync"], because: ownData },
  "adapters/shared/model-api/conversations.ts": { calls: ["mkdir", "rename", "rm", "writeFile"], because: ownData },
  "adapters/shared/agent-program/session-files.ts": { calls: ["mkdir", "rename", "rm", "writeFile"], because: ownData },
  "adapters/shared/agent-program/remove-old-files.ts": { calls: ["rm"], because: `not recursive, and ${ownData}` },
  "adapters/openclaw/command-sweep.ts": { calls: ["mkdirSync", "rmSync", "writeFileSync"], because: ownData },
  "adapters/openclaw/session-keys.ts": { calls: ["link", "mkdir", "rm", "writeFile"], because: ownData },
  "adapters/shared/process/process-table.ts": { calls: ["openSync"], because: "the root directory, to keep a descriptor in reserve" },
  "adapters/shared/process/sandbox.ts": { calls: ["mkdirSync", "renameSync", "writeFileSync"], because: ownData },
  "src/workspaces/diff-work-tree.ts": { calls: ["writeFile"], because: "in a new directory outside of the workspace" },
  "src/workspaces/isolated-git.ts": {
    calls: ["copyFile", "mkdir", "utimes", "writeFile"],
    because: "in a new repository, which no task has seen, or outside of the tree",
  },
  "src/repositories/collect-objects.ts": { calls: ["rm", "writeFile"], because: ownData },
  "src/repositories/commit-tree.ts": {
    calls: ["mkdir", "symlink", "writeFile"],
    because: "in a new directory outside of the tree, or by the path of a held directory of it",
  },
  "src/repositories/create-tree.ts": {
    calls: ["mkdir", "rename", "writeFile"],
    because: "in a tree that no task has seen, or outside of it",
  },
  "src/repositories/mirrors.ts": { calls: ["rename", "writeFile"], because: ownData },
  "src/repositories/sweep-trees.ts": { calls: ["rm"], because: ownData },
  "src/repositories/tenant-commits.ts": { calls: ["rename"], because: ownData },
  "src/repositories/tree-removal.ts": { calls: ["rename"], because: "directly in the directory of all trees, which no task writes to" },
  "packages/bridge-cli/src/apply-commits.ts": { calls: ["mkdtemp", "rm"], because: "on the machine of the person, in a new directory" },
  "src/workspaces/has-changed.ts": { calls: ["chmod"], because: "by the path of a held directory, and with the mode that it has" },
  "src/workspaces/start-commit.ts": { calls: ["rmSync", "writeFileSync"], because: ownData },
  "src/workspaces/workspace-directories.ts": {
    calls: ["rename"],
    because: "directly in the directory of all TMPDIRs, which no task writes to",
  },
  "adapters/shared/process/sweep-processes.ts": { calls: ["writeFileSync"], because: ownData },
  "adapters/shared/process/output-file.ts": {
    calls: ["open", "unlink"],
    because: "a new file directly in TMPDIR, with O_EXCL, which follows no link; a task cannot replace TMPDIR itself",
  },
  "adapters/shared/process/private-sockets.ts": {
    calls: ["openSync", "unlinkSync"],
    because: "a new socket in an open directory, whose name is removed before anything else runs",
  },
  "adapters/shared/process/program-starter-process.ts": {
    calls: ["openSync"],
    because: "the file of output-file.ts, through the descriptor that Bridge has open",
  },
  "adapters/gemini/preload-script.ts": {
    calls: ["*", "*"],
    because: "a text that runs in Gemini CLI, where it replaces fs.promises.access",
  },
  "adapters/gemini/start.ts": { calls: ["symlink"], because: "by the path of a held directory; making a link follows none" },
  "adapters/council/read-settings-file.ts": {
    calls: ["open"],
    because: "to read a file directly in the workspace, with O_NOFOLLOW and O_NONBLOCK",
  },
  "packages/bridge-cli/src/profiles.ts": {
    calls: ["chmodSync", "mkdirSync", "renameSync", "writeFileSync"],
    because: "the user's own configuration directory",
  },
  "packages/responder-bridge/src/artifact-store.ts": { calls: ["mkdir"], because: "one name, by the path of a held directory" },
};

/** Names of the functions of node:fs that change or open files, with and without Sync. */
const CHANGING_FUNCTIONS =
  /^(appendFile|chmod|chown|copyFile|cp|createWriteStream|fchmod|fchown|ftruncate|futimes|lchmod|lchown|link|lutimes|mkdir|mkdtemp|mkdtempDisposable|open|openAsBlob|rename|rm|rmdir|symlink|truncate|unlink|utimes|write|writeFile|writev)(Sync)?$/;

const sources = ["src", "adapters", "packages"].flatMap((directory) =>
  readdirSync(path.join(repository, directory), { recursive: true, encoding: "utf8" })
    .map((name) => path.join(directory, name))
    .filter(
      (name) =>
        name.endsWith(".ts") &&
        !/\/(node_modules|dist)\/|^packages\/[^/]+\/(test|build)\//.test(name) &&
        !name.startsWith("packages/nofollow-fs/"),
    ),
);

/** Returns the names that a source text imports from node:fs, and `*` for an import of the whole module. */
function importsOfFs(text: string): string[] {
  const named = [...text.matchAll(/import\s+(type\s+)?([^;"']*?)\s+from\s+["'](?:node:)?fs(?:\/promises)?["']/g)];
  const names = named
    .filter(([, type]) => type === undefined)
    .flatMap(([, , clause = ""]) => (/^\{[^{}]*\}$/.test(clause) ? clause.slice(1, -1).split(",") : ["*"]))
    .map((name) => name.trim())
    .filter((name) => name !== "" && !name.startsWith("type "))
    .map((name) => (/^(promises|default)\b/.test(name) ? "*" : (name.split(" as ")[0] ?? "").trim()));
  const others = /(?:import|require|getBuiltinModule)\(\s*["'](?:node:)?fs(?:\/promises)?["']|export\b[^;]*from\s+["'](?:node:)?fs/.test(
    text,
  );
  return [...names, ...(others ? ["*"] : [])];
}

test.each([
  ['import { mkdir, readFile as read } from "node:fs/promises";', ["mkdir", "readFile"]],
  ['import { type Stats, rmSync as remove } from "node:fs";', ["rmSync"]],
  ['import type { Stats } from "node:fs";', []],
  ['import * as fs from "node:fs";', ["*"]],
  ['import fs from "fs";', ["*"]],
  ['import { promises } from "node:fs";', ["*"]],
  ['const fs = await import("node:fs");', ["*"]],
  ['const fs = process.getBuiltinModule("fs");', ["*"]],
  ['export { rm } from "node:fs/promises";', ["*"]],
])("the check sees through %s", (text, names) => {
  expect(importsOfFs(text)).toEqual(names);
});

test("only listed files change files without nofollow-fs", () => {
  expect(sources.length).toBeGreaterThan(200);
  const found = sources.flatMap((name) => {
    const calls = importsOfFs(readFileSync(path.join(repository, name), "utf8")).filter(
      (call) => call === "*" || CHANGING_FUNCTIONS.test(call),
    );
    return calls.length === 0 ? [] : [[name, calls.toSorted()] as const];
  });
  const expected = Object.entries(allowed).map(([name, { calls }]) => [name, calls]);
  expect(Object.fromEntries(found)).toEqual(Object.fromEntries(expected));
});
