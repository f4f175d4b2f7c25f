import { readFileSync } from "node:fs";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { execa } from "execa";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Bridge, startBridge } from "../../../test/support/start-bridge.ts";
import { accessTo } from "./start-cli.ts";

const repository = path.resolve(import.meta.dirname, "../../..");

/** A project outside this repository with the packed command line installed. */
let project: string;
let bridge: Bridge;

beforeAll(async () => {
  project = await mkdtemp(path.join(tmpdir(), "cli-user-"));
  const built = path.join(project, "built");
  await execa(process.execPath, [path.join(repository, "scripts/build-workspace.ts"), "bridge-client", "bridge-cli", "--into", built]);
  await writeFile(path.join(project, "package.json"), JSON.stringify({ type: "module" }));
  // Packages and their dependencies as files, so that no registry is contacted.
  const external = findDependencies(["eventsource-parser", "commander", "open"]);
  const sources = [path.join(built, "bridge-client"), path.join(built, "bridge-cli"), ...external];
  const { stdout } = await execa("npm", ["pack", ...sources, "--ignore-scripts", "--json"], { cwd: project });
  const tarballs = (JSON.parse(stdout) as { filename: string }[]).map(({ filename }) => `./${filename}`);
  await execa("npm", ["install", ...tarballs, "--offline", "--ignore-scripts", "--no-audit", "--no-fund"], { cwd: project });
  bridge = await startBridge();
});
afterAll(async () => {
  await bridge?.close();
  await rm(project, { recursive: true, force: true });
});

/** Returns the directories of packages and of all their dependencies. */
function findDependencies(names: readonly string[], found = new Set<string>()): string[] {
  for (const name of names) {
    const directory = path.join(repository, "node_modules", name);
    if (found.has(directory)) continue;
    found.add(directory);
    const { dependencies = {} } = JSON.parse(readFileSync(path.join(directory, "package.json"), "utf8")) as { dependencies?: object };
    findDependencies(Object.keys(dependencies), found);
  }
  return [...found];
}

test("the packed command line dispatches a task, and knows its version", async () => {
  const env = { ...accessTo(bridge), HOME: project, PATH: `${path.dirname(process.execPath)}:/usr/bin:/bin` };
  const run = (...args: string[]) =>
    execa(path.join(project, "node_modules/.bin/bridge"), args, { cwd: project, env, extendEnv: false, stdin: "ignore" });
  expect((await run("dispatch", "-p", "memory", "-a", "writer", "Hello, stranger.")).stdout).toBe("Hello, stranger.");
  expect((await run("version")).stdout).toMatch(/^bridge\t0\.1\.0\n/);
  // The commands of the server need its files.
  expect((await run("--help")).stdout).not.toContain("Commands for the server");
  await expect(run("serve")).rejects.toMatchObject({ exitCode: 2, stderr: expect.stringContaining("serve") });
});

test("the package has few dependencies, and its README links to no file", async () => {
  const installed = path.join(project, "node_modules/bridge-cli");
  const manifest = JSON.parse(await readFile(path.join(installed, "package.json"), "utf8")) as { dependencies: object };
  expect(Object.keys(manifest.dependencies)).toEqual(["bridge-client", "commander", "open"]);
  expect(manifest).not.toHaveProperty("private");
  const names = await readdir(installed, { recursive: true, withFileTypes: true });
  const files = names.filter((entry) => entry.isFile() && !/\.(js|d\.ts)$/.test(entry.name)).map(({ name }) => name);
  expect(files.toSorted()).toEqual(["LICENSE", "README.md", "package.json"]);
  const readme = await readFile(path.join(installed, "README.md"), "utf8");
  expect(readme.match(/\]\((?!https?:|#)[^)]*\)/g)).toBeNull();
});
