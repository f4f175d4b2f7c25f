import { copyFile, mkdir, symlink, writeFile } from "node:fs/promises";
import path from "node:path";
import { execa } from "execa";
import { describe, expect, test } from "vitest";
import { temporaryDirectory } from "../support/temporary-directory.ts";

const repository = path.resolve(import.meta.dirname, "../..");

const HELPERS = `import { writeFile } from "node:fs/promises";
import { EventEmitter } from "node:events";
export async function work(): Promise<boolean> { return true; }
export const save = () => writeFile("file", "text");
export const emitter = new EventEmitter();
`;
const IMPORTS = 'import { emitter, save, work } from "./helpers.ts";\nvoid [emitter, save, work];\n';

/** An exception to the maximum length of a function. */
const LONGEST = "src/dispatch/run/run-task.ts";

/** Files with one violation each. */
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
  { rule: "max-lines-per-function", file: "src/long.ts", code: longFunction(101) },
  { rule: "max-lines-per-function", file: LONGEST, code: longFunction(151) },
];

const LEGAL: readonly { file: string; code: string }[] = [
  { file: "src/handled.ts", code: "void work();\nawait save();\nwork().catch(() => {});\nexport const result = work();" },
  { file: "src/listener-that-runs-on.ts", code: 'emitter.on("event", () => void work());' },
  { file: "test/listener.ts", code: 'emitter.on("event", async () => { await work(); });' },
  { file: "src/limit.ts", code: longFunction(100) },
  { file: "test/long.ts", code: longFunction(121) },
];

describe("oxlint", () => {
  test("oxlint reports every planted violation, and nothing else", async () => {
    const root = await temporaryDirectory();
    for (const name of [".oxlintrc.jsonc", "tsconfig.json"]) await copyFile(path.join(repository, name), path.join(root, name));
    await symlink(path.join(repository, "node_modules"), path.join(root, "node_modules"));
    for (const directory of ["src", path.dirname(LONGEST), "test"]) {
      await mkdir(path.join(root, directory), { recursive: true });
      await writeFile(path.join(root, directory, "helpers.ts"), HELPERS);
    }
    for (const { file, code } of [...planted, ...LEGAL]) await writeFile(path.join(root, file), IMPORTS + code);

    const reports = await lint(root, "src", "test");
    expect(reports.map(({ file, rule }) => `${file} ${rule}`).sort()).toEqual(planted.map(({ rule, file }) => `${file} ${rule}`).sort());
  });

  test("at most five files are exceptions to the maximum length of a function, and each needs it", async () => {
    const { overrides } = JSON.parse((await run(repository, "--print-config")).stdout) as { overrides: readonly Override[] };
    const [limit, ...exceptions] = overrides.filter(({ rules }) => rules["max-lines-per-function"] !== undefined);
    expect(limit?.rules["max-lines-per-function"]).toEqual(["deny", { max: 100 }]);
    expect(exceptions.map(({ rules }) => rules["max-lines-per-function"])).toEqual([["deny", { max: 150 }]]);
    const exempt = exceptions.flatMap(({ files }) => files);
    expect(exempt.length).toBeLessThanOrEqual(5);
    const root = await temporaryDirectory();
    await writeFile(path.join(root, ".oxlintrc.json"), JSON.stringify({ rules: { "max-lines-per-function": ["error", { max: 100 }] } }));
    for (const file of exempt) {
      await mkdir(path.dirname(path.join(root, file)), { recursive: true });
      await copyFile(path.join(repository, file), path.join(root, file));
    }
    const long = (await lint(root)).filter(({ rule }) => rule === "max-lines-per-function");
    expect(long.map(({ file }) => file).sort()).toEqual([...exempt].sort());
  });
});

interface Override {
  readonly files: readonly string[];
  readonly rules: Readonly<Record<string, unknown>>;
}

/** Returns a function with this number of lines. */
function longFunction(lines: number): string {
  return `export function long(): void {\n${"  // a line\n".repeat(lines - 2)}}`;
}

async function lint(root: string, ...paths: readonly string[]): Promise<{ file: string; rule: string }[]> {
  const { stdout } = await run(root, "--format=unix", ...paths);
  return [...stdout.matchAll(/^(\S+?):\d+:\d+: .*\(([^)]+)\)\]$/gm)].map(([, file = "", rule = ""]) => ({ file, rule }));
}

function run(cwd: string, ...options: readonly string[]) {
  return execa("oxlint", options, { cwd, preferLocal: true, localDir: repository, reject: false });
}
