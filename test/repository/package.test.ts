import { cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { execa } from "execa";
import { afterAll, beforeAll, expect, test } from "vitest";

const repository = path.resolve(import.meta.dirname, "../..");

/** A project outside of this repository with the packed package and only the dependencies that it declares. */
let project: string;
let manifest: { dependencies: Record<string, string>; peerDependencies: Record<string, string> };

beforeAll(async () => {
  project = await mkdtemp(path.join(tmpdir(), "stranger-"));
  const built = path.join(project, "built");
  await execa(process.execPath, [path.join(repository, "scripts/build-package.ts"), built]);
  const { stdout } = await execa("npm", ["pack", built, "--pack-destination", project, "--json"], { cwd: project });
  const [{ filename }] = JSON.parse(stdout) as [{ filename: string }];

  const installed = path.join(project, "node_modules/bridge-server");
  await mkdir(installed, { recursive: true });
  await execa("tar", ["-xzf", path.join(project, filename), "--strip-components=1", "-C", installed]);
  manifest = JSON.parse(await readFile(path.join(installed, "package.json"), "utf8"));
  for (const name of Object.keys({ ...manifest.dependencies, ...manifest.peerDependencies })) {
    await symlink(path.join(repository, "node_modules", name), path.join(project, "node_modules", name));
  }
  await writeFile(path.join(project, "package.json"), JSON.stringify({ type: "module" }));
  await cp(path.join(repository, "examples/adapter"), project, { recursive: true });
});
afterAll(() => rm(project, { recursive: true, force: true }));

test("the package declares few dependencies", () => {
  expect(Object.keys(manifest.dependencies)).toEqual(["zod"]);
  expect(manifest).toMatchObject({ peerDependenciesMeta: { vitest: { optional: true } } });
  expect(manifest).not.toHaveProperty("devDependencies");
});

test("the pages of the package link to no file", async () => {
  for (const page of ["README.md", "CHANGELOG.md"]) {
    const text = await readFile(path.join(project, "node_modules/bridge-server", page), "utf8");
    expect(text.length).toBeGreaterThan(1000);
    expect(text.match(/\]\((?!https?:|#)[^)]*\)/g)).toBeNull();
  }
});

test("the contract of the package runs as plain JavaScript", async () => {
  const program = `
    import { executionResultSchema, isAgentManager } from "bridge-server/contract";
    import { createAdapter } from "./echo-adapter.js";
    const adapter = createAdapter();
    await adapter.initialize({ env: {} });
    const result = await adapter.execute({ taskId: "t", message: "hello stranger" });
    console.log(executionResultSchema.parse(result).output, isAgentManager(adapter));
  `;
  const { stdout } = await execa(process.execPath, ["--input-type=module", "--eval", program], { cwd: project });
  expect(stdout).toBe("hello stranger false");
});

test("the conformance kit of the package checks an adapter under vitest", async () => {
  const good = await runVitest();
  expect(good).toMatchObject({ success: true, numFailedTests: 0 });
  expect(good.numPassedTests).toBeGreaterThan(15);

  const adapter = path.join(project, "echo-adapter.js");
  await writeFile(adapter, (await readFile(adapter, "utf8")).replace("output: message,", "output: message.toUpperCase(),"));
  const bad = await runVitest();
  expect(bad.success).toBe(false);
  expect(bad.numFailedTests).toBeGreaterThan(0);
});

test("a TypeScript adapter compiles with the types of the package", async () => {
  const options = { strict: true, module: "nodenext", target: "es2024", noEmit: true, skipLibCheck: false, types: [] };
  await writeFile(path.join(project, "tsconfig.json"), JSON.stringify({ compilerOptions: options, files: ["typed.ts"] }));
  const typed = (provider: string) => `
    import { type BridgeRequestHandler, closeCodes } from "bridge-server/bridge-protocol";
    import type { ExecutionAdapter } from "bridge-server/contract";
    export const handler: BridgeRequestHandler = { handle: async ({ op }) => ({ status: 404, payload: { op, code: closeCodes.stopped } }) };
    export const part: Pick<ExecutionAdapter, "provider" | "cancel"> = { provider: ${provider}, cancel: async (taskHandle) => taskHandle.length > 0 };
  `;
  const compile = () => execa(path.join(repository, "node_modules/.bin/tsc"), ["-p", project], { cwd: project, reject: false });
  await writeFile(path.join(project, "typed.ts"), typed('"typed"'));
  expect((await compile()).stdout).toBe("");
  await writeFile(path.join(project, "typed.ts"), typed("42"));
  expect((await compile()).stdout).toContain("Type 'number' is not assignable to type 'string'");
});

async function runVitest(): Promise<{ success: boolean; numPassedTests: number; numFailedTests: number }> {
  const report = path.join(project, "report.json");
  const vitest = path.join(repository, "node_modules/vitest/vitest.mjs");
  await execa(process.execPath, [vitest, "run", "--reporter=json", `--outputFile=${report}`], { cwd: project, reject: false });
  return JSON.parse(await readFile(report, "utf8"));
}
