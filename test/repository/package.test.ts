import { cp, mkdtemp, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { createInterface } from "node:readline";
import { execa } from "execa";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { compileCache } from "../harness/compile-cache.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";

const repository = path.resolve(import.meta.dirname, "../..");

/** A project outside of this repository in which the packed package is installed. */
let project: string;
let installed: string;
let manifest: { bin: Record<string, string>; bundleDependencies: string[]; engines: object };

beforeAll(async () => {
  project = await mkdtemp(path.join(tmpdir(), "stranger-"));
  installed = path.join(project, "node_modules/bridge-server");
  const built = path.join(project, "built");
  await execa(process.execPath, [path.join(repository, "scripts/build-package.ts"), built]);
  const { stdout } = await execa("npm", ["pack", built, "--pack-destination", project, "--json"], { cwd: project });
  const [{ filename }] = JSON.parse(stdout) as [{ filename: string }];
  await rm(built, { recursive: true });

  await writeFile(path.join(project, "package.json"), JSON.stringify({ type: "module" }));
  await writeFile(path.join(project, "package-lock.json"), await createLock());
  // The versions of the lock file are in npm's cache since `npm ci`.
  const options = ["--prefer-offline", "--ignore-scripts", "--no-audit", "--no-fund"];
  await execa("npm", ["install", `./${filename}`, ...options], { cwd: project });
  manifest = JSON.parse(await readFile(path.join(installed, "package.json"), "utf8"));
  await symlink(path.join(repository, "node_modules/vitest"), path.join(project, "node_modules/vitest"));
  await cp(path.join(repository, "examples/adapter"), project, { recursive: true });
});
afterAll(() => rm(project, { recursive: true, force: true }));

/** Creates a lock file that only chooses versions: npm removes what the installed package does not need. */
async function createLock(): Promise<string> {
  const { packages, ...lock } = JSON.parse(await readFile(path.join(repository, "package-lock.json"), "utf8")) as {
    packages: Record<string, { link?: boolean; dev?: boolean; optional?: boolean }>;
  };
  const needed = Object.entries(packages).filter(
    ([name, { link, dev, optional }]) => name.startsWith("node_modules/") && !link && !dev && !optional,
  );
  return JSON.stringify({ ...lock, packages: Object.fromEntries(needed) });
}

/** Runs a program of the installed package in a directory, as a user does who has never run Bridge. */
const runInstalled = (name: string, args: readonly string[], cwd: string, env: Record<string, string> = {}) =>
  execa(path.join(project, "node_modules/.bin", name), args, {
    cwd,
    env: { ...compileCache, PATH: `${path.dirname(process.execPath)}:/usr/bin:/bin`, HOME: cwd, ...env },
    extendEnv: false,
    reject: false,
    stdin: "ignore",
  });

test("the installed program starts Bridge, serves the console, runs a task and stops on SIGTERM", async () => {
  const cwd = await temporaryDirectory();
  const server = runInstalled("bridge-server", [], cwd, { BRIDGE_PORT: "0", BRIDGE_SANDBOX: "off" });
  onTestFinished(() => void server.kill("SIGKILL"));
  const lines = createInterface(server.stdout);
  const { value } = await lines[Symbol.asyncIterator]().next();
  const { address: url, msg } = JSON.parse(String(value)) as { address: string; msg: string };
  expect(msg).toBe("listening");
  expect((await fetch(`${url}/readyz`)).status).toBe(200);

  const page = await fetch(`${url}/ui/`);
  expect(page.status).toBe(200);
  const [, script = ""] = /<script[^>]* src="([^"]+)"/.exec(await page.text()) ?? [];
  const loaded = await fetch(new URL(script, page.url));
  expect(loaded.headers.get("content-type")).toContain("text/javascript");
  expect((await loaded.text()).length).toBeGreaterThan(10_000);

  // The data is in the current directory of the program.
  const token = (await readFile(path.join(cwd, "data/token"), "utf8")).trim();
  // A worker thread checks the schema.
  const outputStrategy = { type: "structured", schema: { type: "object" } };
  const dispatch = { taskId: "packed-1", agentId: "auditor", message: "Count BRIDGE in *.md", outputStrategy };
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json", prefer: "wait=60" };
  const response = await fetch(`${url}/api/v2/dispatch`, { method: "POST", headers, body: JSON.stringify(dispatch) });
  expect(await response.json()).toMatchObject({ state: "completed", provider: "command" });

  server.kill("SIGTERM");
  expect((await server).exitCode).toBe(0);
  expect((await readdir(project)).toSorted()).not.toContain("data");
});

test("the installed programs have the commands for the server", async () => {
  const cwd = await temporaryDirectory();
  const created = await runInstalled("bridge-server", ["token", "create", "ci", "--json"], cwd);
  expect(JSON.parse(created.stdout)).toMatchObject({ entry: { name: "ci" } });
  const listed = await runInstalled("bridge", ["config", "list", "--set"], cwd, { BRIDGE_PORT: "9" });
  expect(listed.stdout).toMatch(/BRIDGE_PORT\s+9/);
});

test("the installed program reports an old Node", async () => {
  const cwd = await temporaryDirectory();
  const preload = "data:text/javascript,Object.defineProperty(process,'versions',{value:{...process.versions,node:'22.23.1'}})";
  for (const args of [[], ["token", "create", "ci"]]) {
    const { exitCode, stderr } = await runInstalled("bridge-server", args, cwd, { NODE_OPTIONS: `--import=${preload}` });
    expect(exitCode).toBe(1);
    expect(stderr).toMatch(/^Node 22\.23\.1 is too old: Bridge needs Node 24 or newer\.\nInstall it/);
  }
  expect(manifest).toMatchObject({ engines: { node: ">=24" } });
});

test("the package contains the workspaces, and no path of a TypeScript source", async () => {
  expect(manifest.bundleDependencies.length).toBeGreaterThan(5);
  expect(Object.keys(manifest.bin)).toEqual(["bridge-server", "bridge", "brg"]);
  expect(manifest).toMatchObject({ peerDependenciesMeta: { vitest: { optional: true } } });
  expect(manifest).not.toHaveProperty("devDependencies");
  // With dependencies of a bundled package, `npm install --global` leaves their directories empty.
  for (const name of manifest.bundleDependencies) {
    const bundled = await readFile(path.join(installed, "node_modules", name, "package.json"), "utf8");
    expect(JSON.parse(bundled)).not.toHaveProperty("dependencies");
  }
  const files = await readdir(installed, { recursive: true });
  expect(files.filter((file) => /(?<!\.d)\.ts$/.test(file))).toEqual([]);
  const programs = files.filter((file) => /^(src|adapters)\/.*\.js$/.test(file));
  expect(programs.length).toBeGreaterThan(300);
  const sources = await Promise.all(programs.map((file) => readFile(path.join(installed, file), "utf8")));
  expect(sources.flatMap((text) => text.match(/["'][./]*[\w-]+\.ts["']|\.\/[\w-]+\.ts/g) ?? [])).toEqual([]);
});

test("the pages of the package link only to files of the package", async () => {
  const files = new Set(await readdir(installed));
  for (const page of ["README.md", "CHANGELOG.md", "adapters.md"]) {
    const text = await readFile(path.join(installed, page), "utf8");
    expect(text.length).toBeGreaterThan(1000);
    const targets = [...text.matchAll(/\]\((?!https?:|#)([^)#]*)[^)]*\)/g)].map(([, target = ""]) => target);
    expect(targets.filter((target) => !files.has(target))).toEqual([]);
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
  await writeFile(path.join(project, "tsconfig.json"), JSON.stringify({ compilerOptions: options, files: ["typed.ts", "wrong.ts"] }));
  const typed = (provider: string) => `
    import { type BridgeRequestHandler, closeCodes } from "bridge-server/bridge-protocol";
    import type { ExecutionAdapter } from "bridge-server/contract";
    export const handler: BridgeRequestHandler = { handle: async ({ op }) => ({ status: 404, payload: { op, code: closeCodes.stopped } }) };
    export const part: Pick<ExecutionAdapter, "provider" | "cancel"> = { provider: ${provider}, cancel: async (taskHandle) => taskHandle.length > 0 };
  `;
  await writeFile(path.join(project, "typed.ts"), typed('"typed"'));
  await writeFile(path.join(project, "wrong.ts"), typed("42"));
  const { stdout } = await execa(path.join(repository, "node_modules/.bin/tsc"), ["-p", project], { cwd: project, reject: false });
  const errors = stdout.split("\n").filter((line) => line.includes("error TS"));
  expect(errors).toEqual([expect.stringMatching(/^wrong\.ts.*Type 'number' is not assignable to type 'string'/)]);
});

async function runVitest(): Promise<{ success: boolean; numPassedTests: number; numFailedTests: number }> {
  const report = path.join(project, "report.json");
  const vitest = path.join(repository, "node_modules/vitest/vitest.mjs");
  await execa(process.execPath, [vitest, "run", "--reporter=json", `--outputFile=${report}`], { cwd: project, reject: false });
  return JSON.parse(await readFile(report, "utf8"));
}
