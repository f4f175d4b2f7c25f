import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { execa } from "execa";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { rooms } from "../../scripts/layers.ts";

const repository = path.resolve(import.meta.dirname, "../..");
const check = path.join(repository, "scripts/check-layers.ts");

/** Files with one forbidden import each. */
const planted: readonly { rule: string; file: string; imports: string; code?: string }[] = [
  { rule: "vocabulary", file: "src/task.ts", imports: "./store/store.ts" },
  { rule: "vocabulary", file: "src/contract/upward.ts", imports: "../config/config.ts" },
  { rule: "vocabulary-imports-only-zod", file: "src/contract/disk.ts", imports: "node:fs" },
  { rule: "vocabulary-imports-only-zod", file: "src/contract/network.ts", imports: "undici" },
  { rule: "room metrics.ts", file: "src/metrics.ts", imports: "./store/store.ts" },
  ...Object.keys(rooms)
    .filter((room) => room !== "app" && !/\.[jt]s$/.test(room))
    .map((room) => ({ rule: `room ${room}`, file: `src/${room}/upward.ts`, imports: `${"../".repeat(room.split("/").length)}main.ts` })),
  { rule: "room app", file: "src/app/upward.ts", imports: "../main.ts" },
  { rule: "room main.ts", file: "src/main.ts", imports: "./store/store.ts" },
  { rule: "room start.js", file: "src/start.js", imports: "./app/create-app.ts" },
  {
    rule: "room store",
    file: "src/store/disposing.ts",
    imports: "../http/routes/tasks.ts",
    code: 'export async function dispose() {\n  await using other = await import("../http/routes/tasks.ts");\n  return other;\n}',
  },
  { rule: "room store", file: "src/store/counting.ts", imports: "../metrics.ts" },
  { rule: "room store/events", file: "src/store/events/sideways.ts", imports: "../tasks/sqlite.ts" },
  { rule: "room store/engines/sqlite", file: "src/store/engines/sqlite/typed.ts", imports: "../../tasks/interface.ts" },
  { rule: "room store/engines/postgres", file: "src/store/engines/postgres/bound.ts", imports: "../../tasks/sqlite.ts" },
  { rule: "room http/routes", file: "src/http/routes/shortcut.ts", imports: "../../store/store.ts" },
  { rule: "room websocket", file: "src/websocket/sideways.ts", imports: "../http/routes/tasks.ts" },
  { rule: "types-of-config-only", file: "src/http/server/settings.ts", imports: "../../config/config.ts" },
  { rule: "every-file-has-a-room", file: "src/homeless/thing.ts", imports: "node:fs" },
  { rule: "every-file-has-a-room", file: "src/http/hall.ts", imports: "node:fs" },
  { rule: "adapters-see-contract-and-shared-parts", file: "adapters/codex/borrowing.ts", imports: "../claude/index.ts" },
  { rule: "adapters-see-contract-and-shared-parts", file: "adapters/codex/inside.ts", imports: "../../src/errors.ts" },
  { rule: "adapters-see-contract-and-shared-parts", file: "adapters/shared/process/particular.ts", imports: "../../claude/index.ts" },
  { rule: "adapters-name-the-contract", file: "adapters/codex/relative.ts", imports: "../../src/contract/index.ts" },
  { rule: "catalog-sees-only-adapters", file: "adapters/index.ts", imports: "../src/errors.ts" },
  { rule: "only-app-sees-the-catalog", file: "src/dispatch/choosing.ts", imports: "../../adapters/index.ts" },
  { rule: "source-knows-no-adapter", file: "src/dispatch/naming.ts", imports: "../../adapters/claude/index.ts" },
  { rule: "packages-stand-alone", file: "packages/council/leaning.ts", imports: "../../src/errors.ts" },
  { rule: "packages-by-package-name", file: "packages/council/relative.ts", imports: "../responder/index.ts" },
  { rule: "others-by-package-name", file: "adapters/codex/reaching.ts", imports: "../../packages/responder/index.ts" },
  { rule: "console-uses-the-client", file: "packages/console/src/reaching.ts", imports: "../../council/index.ts" },
  { rule: "only-tests-import-the-console", file: "scripts/reaching.ts", imports: "../packages/console/src/page.ts" },
  { rule: "production-sees-no-test", file: "src/store/tested.ts", imports: "../../test/helper.ts" },
  { rule: "production-sees-no-test", file: "packages/council/src/tested.ts", imports: "../test/council.test.ts" },
  { rule: "production-uses-no-development-tool", file: "src/store/tooled.ts", imports: "vitest" },
  { rule: "no-cycles", file: "adapters/shared/acp/left.ts", imports: "./right.ts" },
  { rule: "no-unresolved", file: "src/store/dangling.ts", imports: "./missing.ts" },
];

/** Files with permitted imports only. */
const legal: readonly { file: string; code: string }[] = [
  { file: "src/contract/index.ts", code: 'import { z } from "zod";\nexport const word = z.string();' },
  { file: "src/errors.ts", code: "export const words = 1;" },
  { file: "src/config/config.ts", code: 'import { words } from "../errors.ts";\nexport const config = words;' },
  { file: "src/store/tasks/interface.ts", code: "export type Task = string;" },
  { file: "src/store/tasks/sqlite.ts", code: 'import type { Task } from "./interface.ts";\nexport const task: Task = "1";' },
  { file: "src/store/events/sqlite.ts", code: 'import type { Task } from "../tasks/interface.ts";\nexport const event: Task = "1";' },
  {
    file: "src/store/engines/postgres/batch.ts",
    code: 'import type { Task } from "../../tasks/interface.ts";\nexport const batch: Task = "1";',
  },
  { file: "src/store/store.ts", code: 'import { word } from "#contract";\nexport const store = word;' },
  {
    file: "src/dispatch/dispatcher.ts",
    code: 'import { store } from "../store/store.ts";\nimport "../metrics.ts";\nexport const dispatcher = store;',
  },
  {
    file: "src/http/routes/tasks.ts",
    code: 'import { dispatcher } from "../../dispatch/dispatcher.ts";\nexport const tasks = dispatcher;',
  },
  { file: "src/http/server/shape.ts", code: 'import type { config } from "../../config/config.ts";\nexport type Shape = typeof config;' },
  { file: "src/app/create-app.ts", code: 'import "../http/routes/tasks.ts";\nimport "../../adapters/index.ts";' },
  {
    file: "adapters/claude/index.ts",
    code: 'import { word } from "#contract";\nimport "../shared/process/run.ts";\nimport "responder";\nexport const claude = word;',
  },
  { file: "adapters/shared/process/run.ts", code: "export const run = 1;" },
  { file: "adapters/shared/acp/right.ts", code: 'export * from "./left.ts";' },
  { file: "packages/responder/index.ts", code: "export const responder = 1;" },
  { file: "packages/council/index.ts", code: 'export * from "responder";' },
  { file: "packages/council/test/council.test.ts", code: 'export * from "../../../test/helper.ts";\nexport * from "../index.ts";' },
  { file: "packages/console/src/page.ts", code: 'export * from "vitest";' },
  { file: "test/helper.ts", code: 'export * from "../src/store/store.ts";\nexport * from "vitest";' },
];

let sample: string;
beforeAll(async () => {
  sample = await mkdtemp(path.join(tmpdir(), "layers-"));
  for (const { file, code } of legal) await write(file, code);
});
afterAll(() => rm(sample, { recursive: true, force: true }));

describe("the check of the layers", () => {
  test("the check of the layers passes a repository whose imports all point down", async () => {
    await furnish();
    // Modules that the permitted files import, and that otherwise only the planted files would create.
    for (const file of ["src/metrics.ts", "src/main.ts", "adapters/index.ts", "adapters/shared/acp/left.ts"])
      await write(file, "export const planted = 1;");

    const { exitCode, stdout, stderr } = await runCheck();

    expect(stderr).toBe("");
    expect(stdout).toMatch(/^Every import points down \(\d+ modules, \d+ imports\)\.$/);
    expect(exitCode).toBe(0);
  });

  test("the check of the layers reports every planted import with its rule, and nothing else", async () => {
    for (const { file, imports, code } of planted) {
      await write(file, code ?? `import * as other from "${imports}";\nexport const planted = other;`);
    }

    const { exitCode, stderr } = await runCheck();

    const lines = stderr.split("\n");
    const ownRule = planted.filter(({ rule, file }) => !lines.some((line) => line.startsWith(`${rule}: ${file} -> `)));
    expect(ownRule).toEqual([]);
    const suspects = new Set([...planted.map(({ file }) => file), "adapters/shared/acp/right.ts"]);
    expect(lines.filter((line) => !suspects.has(line.split(/: | -> /)[1] ?? ""))).toEqual([]);
    expect(exitCode).toBe(1);
  });

  test("the check of the layers fails as broken when it finds no files", async () => {
    const empty = await mkdtemp(path.join(tmpdir(), "layers-empty-"));
    try {
      await mkdir(path.join(empty, "src"));
      const { exitCode, stderr } = await execa(process.execPath, [check, empty], { reject: false });
      expect(stderr).toContain("the check itself is broken");
      expect(exitCode).toBe(1);
    } finally {
      await rm(empty, { recursive: true });
    }
  });
});

const runCheck = () => execa(process.execPath, [check, sample], { reject: false });

async function write(file: string, code: string): Promise<void> {
  await mkdir(path.dirname(path.join(sample, file)), { recursive: true });
  await writeFile(path.join(sample, file), `${code}\n`);
}

/** Creates the manifest, and links to the installed packages of this repository and to one workspace package. */
async function furnish(): Promise<void> {
  await write(
    "package.json",
    JSON.stringify({
      type: "module",
      workspaces: ["packages/*"],
      imports: { "#contract": "./src/contract/index.ts" },
      dependencies: { zod: "*", undici: "*", responder: "*" },
      devDependencies: { vitest: "*" },
    }),
  );
  await mkdir(path.join(sample, "node_modules"));
  for (const name of ["zod", "undici", "vitest"])
    await symlink(path.join(repository, "node_modules", name), path.join(sample, "node_modules", name));
  await write("packages/responder/package.json", JSON.stringify({ name: "responder", type: "module", exports: "./index.ts" }));
  await symlink(path.join(sample, "packages/responder"), path.join(sample, "node_modules/responder"));
}
