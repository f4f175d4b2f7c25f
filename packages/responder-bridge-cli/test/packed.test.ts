import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { execa } from "execa";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startScriptedServer } from "../../bridge-client/test/scripted-server.ts";
import { flowmarkProgram, installProgram } from "../../responder-bridge/test/tools.ts";
import { document } from "./start-rb.ts";

const repository = path.resolve(import.meta.dirname, "../../..");
const workspaces = ["bridge-client", "async-kit", "nofollow-fs", "responder-bridge", "responder-bridge-openai", "responder-bridge-cli"];

/** A project outside this repository with the packed packages installed. */
let project: string;

beforeAll(async () => {
  project = await mkdtemp(path.join(tmpdir(), "responder-user-"));
  const built = path.join(project, "built");
  await execa(process.execPath, [path.join(repository, "scripts/build-workspace.ts"), ...workspaces, "--into", built]);
  await writeFile(path.join(project, "package.json"), JSON.stringify({ type: "module" }));
  // Packages and their dependencies as files, so that no registry is contacted.
  const sources = [...workspaces.map((name) => path.join(built, name)), ...(await dependenciesOf(workspaces))];
  const { stdout } = await execa("npm", ["pack", ...sources, "--ignore-scripts", "--json"], { cwd: project });
  const tarballs = (JSON.parse(stdout) as { filename: string }[]).map(({ filename }) => `./${filename}`);
  await execa("npm", ["install", ...tarballs, "--offline", "--ignore-scripts", "--no-audit", "--no-fund"], { cwd: project });
});
afterAll(() => rm(project, { recursive: true, force: true }));

/** Returns the directories of all external dependencies of these packages. */
async function dependenciesOf(names: readonly string[]): Promise<string[]> {
  const found = new Set<string>();
  const follow = async (directory: string): Promise<void> => {
    const { dependencies = {} } = JSON.parse(await readFile(path.join(directory, "package.json"), "utf8"));
    for (const name of Object.keys(dependencies)) {
      const place = path.join(repository, "node_modules", name);
      if (found.has(place) || name === "bridge-client" || name.startsWith("@hak2i/")) continue;
      found.add(place);
      await follow(place);
    }
  };
  for (const name of names) await follow(path.join(repository, "packages", name));
  return [...found];
}

test.each([
  ["@hak2i/async-kit", []],
  ["@hak2i/nofollow-fs", []],
  ["@hak2i/responder-bridge", ["@hak2i/async-kit", "@hak2i/nofollow-fs", "execa"]],
  ["@hak2i/responder-bridge-openai", ["@hak2i/async-kit", "@hak2i/responder-bridge", "undici"]],
  ["@hak2i/responder-bridge-cli", ["@hak2i/responder-bridge", "@hak2i/responder-bridge-openai", "bridge-client", "commander", "execa"]],
])("%s contains JavaScript, types, a license and a README, and has few dependencies", async (name, dependencies) => {
  const installed = path.join(project, "node_modules", name);
  const names = await readdir(installed);
  expect(names.filter((file) => !/\.(js|d\.ts)$/.test(file)).toSorted()).toEqual(["LICENSE", "README.md", "package.json"]);
  const manifest = JSON.parse(await readFile(path.join(installed, "package.json"), "utf8"));
  expect(manifest).toMatchObject({ version: "0.1.0", license: "MIT", publishConfig: { access: "public" } });
  expect(Object.keys(manifest.dependencies).toSorted()).toEqual(dependencies);
  expect(manifest).not.toHaveProperty("private");
  const readme = await readFile(path.join(installed, "README.md"), "utf8");
  expect(readme.match(/\]\((?!https?:|#)[^)]*\)/g)).toBeNull();
});

test.each(["rb", "responder-bridge"])("%s runs in the project of a user", async (bin) => {
  const { url } = await startScriptedServer(document("one"), document("one\ntwo"));
  const programs = await installProgram(project, "flowmark", flowmarkProgram(["one", "two"]));
  const args = ["run", "--tool", "flowmark", "--model", "small", "--materials", "package.json", "--out", `out-${bin}`];
  const env = { PATH: `${programs}:${path.dirname(process.execPath)}:/usr/bin:/bin`, OPENAI_API_KEY: "key", OPENAI_BASE_URL: `${url}/v1` };
  const options = { cwd: project, env, extendEnv: false };
  expect(await execa(path.join(project, "node_modules/.bin", bin), args, options)).toMatchObject({
    stdout: `out-${bin}/final/final.md`,
    stderr: [
      "iteration 1 of 3: waiting for openai small",
      "iteration 1 of 3: not valid",
      "iteration 2 of 3: waiting for openai small",
      "iteration 2 of 3: valid",
    ].join("\n"),
  });
});

test("the packages can be used from plain JavaScript", async () => {
  const program = `
    import { createArtifactStore, createCommandTool, createResponderBridge } from "@hak2i/responder-bridge";
    import { createOpenAiProvider } from "@hak2i/responder-bridge-openai";
    const tool = createCommandTool({ command: ["sh", "-c", 'case "$1" in describe) echo Say it.;; validate) grep -q right "$2";; esac', "sh"] });
    const provider = createOpenAiProvider({ baseUrl: process.env.MODEL_URL, apiKey: null });
    const responder = createResponderBridge({ provider, tool, artifacts: createArtifactStore("out-library") });
    const { ok, iterations, artifacts } = await responder.run({ model: "small", describe: { topic: "x" } });
    console.log(JSON.stringify({ ok, iterations, count: artifacts.length }));
  `;
  const { url } = await startScriptedServer(document("wrong"), document("right"));
  const options = { cwd: project, env: { MODEL_URL: `${url}/v1` } };
  const { stdout } = await execa(process.execPath, ["--input-type=module", "--eval", program], options);
  expect(JSON.parse(stdout)).toEqual({ ok: true, iterations: 2, count: 11 });
});

test("a TypeScript project gets their types, and the examples of their READMEs compile", async () => {
  const pages = await Promise.all(
    ["@hak2i/responder-bridge", "@hak2i/responder-bridge-openai"].map((name) =>
      readFile(path.join(project, "node_modules", name, "README.md"), "utf8"),
    ),
  );
  const blocks = pages.flatMap((page) => [...page.matchAll(/```ts\n(.+?)```/gs)].map(([, code]) => `${code}\nexport {};\n`));
  expect(blocks.length).toBeGreaterThan(3);
  const wrong = `import type { Provider } from "@hak2i/responder-bridge"; export const one: Provider = { generate: async () => ({ words: "" }) };`;
  for (const [index, code] of blocks.entries()) await writeFile(path.join(project, `block-${index}.ts`), code);
  await writeFile(path.join(project, "wrong.ts"), wrong);
  const complaints = await compile([...blocks.map((_, index) => `block-${index}.ts`), "wrong.ts"]);
  expect(complaints).toContain("Property 'text' is missing in type '{ words: string; }'");
  expect(complaints.match(/^\S+(?=\()/gm)).toEqual(["wrong.ts"]);
});

/** Type-checks files of the project in strict mode. */
async function compile(files: string[]): Promise<string> {
  const typeRoots = [path.join(repository, "node_modules/@types")];
  const compilerOptions = {
    strict: true,
    module: "nodenext",
    target: "es2024",
    noEmit: true,
    skipLibCheck: true,
    types: ["node"],
    typeRoots,
  };
  await writeFile(path.join(project, "tsconfig.json"), JSON.stringify({ compilerOptions, files }));
  return (await execa(path.join(repository, "node_modules/.bin/tsc"), ["-p", project], { cwd: project, reject: false })).stdout;
}
