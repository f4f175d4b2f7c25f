import { copyFile, mkdir, symlink, writeFile } from "node:fs/promises";
import path from "node:path";
import { execa } from "execa";
import { describe, expect, test } from "vitest";
import { temporaryDirectory } from "../temporary-directory.ts";

const repository = path.resolve(import.meta.dirname, "../..");

const HELPERS = `import { writeFile } from "node:fs/promises";
import { EventEmitter } from "node:events";
export async function work(): Promise<boolean> { return true; }
export const save = () => writeFile("file", "text");
export const emitter = new EventEmitter();
`;
const IMPORTS = 'import { emitter, save, work } from "./helpers.ts";\nvoid [emitter, save, work];\n';

/** One file each, with one violation. */
const planted: readonly { rule: string; file: string; code: string }[] = [
  { rule: "no-floating-promises", file: "src/call.ts", code: "work();" },
  { rule: "no-floating-promises", file: "src/inferred.ts", code: "save();" },
  { rule: "no-floating-promises", file: "src/chained.ts", code: "work().then(() => {});" },
  { rule: "no-floating-promises", file: "src/all.ts", code: "Promise.all([work(), save()]);" },
  { rule: "no-floating-promises", file: "test/call.ts", code: "work();" },
  { rule: "no-misused-promises", file: "src/condition.ts", code: "if (work()) save().catch(() => {});" },
  { rule: "no-misused-promises", file: "src/listener.ts", code: 'emitter.on("event", async () => { await work(); });' },
  { rule: "no-misused-promises", file: "src/timer.ts", code: "setTimeout(async () => { await work(); }, 1);" },
  { rule: "no-misused-promises", file: "src/spread.ts", code: "export const spread = { ...work() };" },
  { rule: "no-misused-promises", file: "test/condition.ts", code: "if (work()) save().catch(() => {});" },
];

const LEGAL: readonly { file: string; code: string }[] = [
  { file: "src/handled.ts", code: "void work();\nawait save();\nwork().catch(() => {});\nexport const result = work();" },
  { file: "src/listener-that-runs-on.ts", code: 'emitter.on("event", () => void work());' },
  { file: "test/listener.ts", code: 'emitter.on("event", async () => { await work(); });' },
];

describe("oxlint", () => {
  test("reports every planted violation, and nothing else", async () => {
    const root = await temporaryDirectory();
    for (const name of [".oxlintrc.jsonc", "tsconfig.json"]) await copyFile(path.join(repository, name), path.join(root, name));
    await symlink(path.join(repository, "node_modules"), path.join(root, "node_modules"));
    for (const directory of ["src", "test"]) {
      await mkdir(path.join(root, directory));
      await writeFile(path.join(root, directory, "helpers.ts"), HELPERS);
    }
    for (const { file, code } of [...planted, ...LEGAL]) await writeFile(path.join(root, file), IMPORTS + code);

    const { exitCode, stdout } = await execa("oxlint", ["--format=unix", "src", "test"], {
      cwd: root,
      preferLocal: true,
      localDir: repository,
      reject: false,
    });
    expect(exitCode).toBe(1);
    const reports = stdout.split("\n").filter((line) => /^\S+:\d+:\d+: /.test(line));
    expect(reports.map((line) => `${line.split(":")[0]} ${/\(([^)]+)\)\]$/.exec(line)?.[1]}`).sort()).toEqual(
      planted.map(({ rule, file }) => `${file} ${rule}`).sort(),
    );
  });
});
