import { appendFile, cp, mkdir, readdir, readFile, rename, rm, stat, symlink, writeFile } from "node:fs/promises";
import path from "node:path";
import { createInterface } from "node:readline";
import { execa } from "execa";
import { expect, onTestFinished, test } from "vitest";
import { compileCache } from "../../../../test/harness/compile-cache.ts";
import { temporaryDirectory } from "../../../../test/support/temporary-directory.ts";

const repository = path.resolve(import.meta.dirname, "../../../..");
const consoleDirectory = "packages/console";

/** Copies what a start of Bridge in a clone needs, without a built console. */
async function cloneRepository({ withBundler = true } = {}): Promise<string> {
  const clone = await temporaryDirectory();
  const isSource = (file: string): boolean => !/\/(dist|dist-\w+|node_modules)$/.test(file);
  for (const name of ["src", "adapters", "migrations", "packages", "package.json"])
    await cp(path.join(repository, name), path.join(clone, name), { recursive: true, filter: isSource });
  await mkdir(path.join(clone, "node_modules"));
  const packages = (await readdir(path.join(repository, "node_modules"))).filter((name) => withBundler || name !== "rolldown");
  for (const name of packages.filter((name) => name !== ".cache"))
    await symlink(path.join(repository, "node_modules", name), path.join(clone, "node_modules", name));
  return clone;
}

const ensureBuilt = (clone: string) =>
  execa(process.execPath, ["-e", `process.exit(require("./${consoleDirectory}/build/ensure-built.ts").ensureBuilt() ? 0 : 1)`], {
    cwd: clone,
    env: compileCache,
    reject: false,
  });

const builtIn = (clone: string): string => path.join(clone, consoleDirectory, "dist");
const readPage = (clone: string): Promise<string> => readFile(path.join(builtIn(clone), "index.html"), "utf8");

/** Expects that every file that the page names exists, and that no build has left anything behind. */
async function expectCompleteConsole(clone: string): Promise<void> {
  const names = [...(await readPage(clone)).matchAll(/(?:src|href)="\.\/(assets\/[^"]+)"/g)].map(([, name = ""]) => name);
  expect(names).toHaveLength(3);
  for (const name of names) expect((await stat(path.join(builtIn(clone), name))).size).toBeGreaterThan(1000);
  expect((await readdir(path.join(clone, consoleDirectory))).filter((name) => name.startsWith("dist"))).toEqual(["dist"]);
}

test("the console is built again only if one of its inputs has changed", async () => {
  const clone = await cloneRepository();
  expect((await ensureBuilt(clone)).exitCode).toBe(0);
  await expectCompleteConsole(clone);
  // Without this package, another build would fail.
  const lit = path.join(clone, "node_modules/lit");
  await rename(lit, `${lit}.away`);
  expect(await ensureBuilt(clone)).toMatchObject({ exitCode: 0, stderr: "" });
  await rename(`${lit}.away`, lit);
  const page = await readPage(clone);
  await appendFile(path.join(clone, consoleDirectory, "src/styles/index.css"), "\n.added { color: red; }\n");
  await ensureBuilt(clone);
  expect(await readPage(clone)).not.toBe(page);
  await expectCompleteConsole(clone);
});

test("several programs that build the console at once leave one complete console", async () => {
  const clone = await cloneRepository();
  const builds = await Promise.all([1, 2, 3].map(() => ensureBuilt(clone)));
  expect(builds.map(({ exitCode, stderr }) => [exitCode, stderr])).toEqual([1, 2, 3].map(() => [0, ""]));
  await expectCompleteConsole(clone);
});

test("consoles that differ replace each other as a whole", async () => {
  const directory = path.join(await temporaryDirectory(), "dist");
  const writer = path.join(repository, consoleDirectory, "build/write-console.ts");
  const write = (name: string) => `
    const { writeConsole } = require(${JSON.stringify(writer)});
    const files = new Map([0, 1, 2].map((file) => ["assets/" + file, ${JSON.stringify(name)}]));
    for (let round = 0; round < 100; round++) writeConsole(files, { sources: ${JSON.stringify(name)} + round, packages: "" }, ${JSON.stringify(directory)});
  `;
  await Promise.all(["first", "second", "third"].map((name) => execa(process.execPath, ["-e", write(name)], { env: compileCache })));
  const texts = await Promise.all([0, 1, 2].map((file) => readFile(path.join(directory, "assets", String(file)), "utf8")));
  expect(new Set(texts).size).toBe(1);
  expect(JSON.parse(await readFile(path.join(directory, ".inputs"), "utf8"))).toEqual({ sources: `${texts[0]}99`, packages: "" });
  expect(await readdir(path.dirname(directory))).toEqual(["dist"]);
});

test("a build that fails reports the fault and the command, and keeps the previous console", async () => {
  const clone = await cloneRepository();
  await ensureBuilt(clone);
  const page = await readPage(clone);
  await writeFile(path.join(clone, consoleDirectory, "src/main.ts"), 'import "./missing.ts";\n');
  const { exitCode, stderr } = await ensureBuilt(clone);
  expect(exitCode).toBe(1);
  expect(stderr).toMatch(/^The console could not be built: [\s\S]*Could not resolve '\.\/missing\.ts[\s\S]*npm run build:console/);
  expect(await readPage(clone)).toBe(page);
});

test("a build by hand replaces a damaged console, and a start one without its page", async () => {
  const clone = await cloneRepository();
  await ensureBuilt(clone);
  const [asset = ""] = await readdir(path.join(builtIn(clone), "assets"));
  await rm(path.join(builtIn(clone), "assets", asset));
  await execa(process.execPath, [path.join(consoleDirectory, "build/build.ts")], { cwd: clone, env: compileCache });
  await expectCompleteConsole(clone);
  await rm(path.join(builtIn(clone), "index.html"));
  expect((await ensureBuilt(clone)).exitCode).toBe(0);
  await expectCompleteConsole(clone);
});

test("an installation by a program that does not write the list of npm builds its console once", async () => {
  const clone = await cloneRepository();
  await rm(path.join(clone, "node_modules/.package-lock.json"));
  expect(await ensureBuilt(clone)).toMatchObject({ exitCode: 0, stderr: "" });
  await expectCompleteConsole(clone);
});

test("an installation without development packages keeps the console of its source, and reports another one", async () => {
  const clone = await cloneRepository();
  await ensureBuilt(clone);
  await rm(path.join(clone, "node_modules/rolldown"));
  await rm(path.join(clone, "node_modules/.package-lock.json"));
  expect(await ensureBuilt(clone)).toMatchObject({ exitCode: 0, stderr: "" });
  await appendFile(path.join(clone, consoleDirectory, "src/styles/index.css"), "\n.added { color: red; }\n");
  expect(await ensureBuilt(clone)).toMatchObject({
    exitCode: 1,
    stderr: expect.stringContaining("Run: npm ci && npm rebuild && npm run build:console"),
  });
});

test("an installation without development packages builds nothing", async () => {
  const clone = await cloneRepository({ withBundler: false });
  expect((await ensureBuilt(clone)).exitCode).toBe(1);
  const { exitCode, stderr } = await execa(process.execPath, [path.join(consoleDirectory, "build/build.ts")], {
    cwd: clone,
    reject: false,
  });
  expect(exitCode).toBe(1);
  expect(stderr).toMatch(
    /^The console could not be built: Cannot find package 'rolldown'[\s\S]*npm ci && npm rebuild && npm run build:console/,
  );
  await expect(readPage(clone)).rejects.toThrow("ENOENT");
});

test("a start of Bridge in a clone builds the console and serves it", async () => {
  const clone = await cloneRepository();
  const env = { ...compileCache, PATH: "/usr/bin:/bin", BRIDGE_PORT: "0" };
  const server = execa(process.execPath, ["src/start.js"], { cwd: clone, env, extendEnv: false, reject: false, stdin: "ignore" });
  onTestFinished(async () => {
    server.kill("SIGKILL");
    await server;
  });
  const { value } = await createInterface(server.stdout)[Symbol.asyncIterator]().next();
  const { address } = JSON.parse(String(value)) as { address: string };
  const page = await fetch(`${address}/ui/`);
  expect([page.status, await page.text()]).toEqual([200, await readPage(clone)]);
  await rm(builtIn(clone), { recursive: true });
  expect((await fetch(`${address}/ui/`)).status).toBe(200);
});
