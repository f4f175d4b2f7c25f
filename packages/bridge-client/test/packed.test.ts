import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { execa } from "execa";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Bridge, startBridge } from "../../../test/support/start-bridge.ts";

const repository = path.resolve(import.meta.dirname, "../../..");
const typeRoots = [path.join(repository, "node_modules/@types")];

/** A project outside this repository with the packed client installed. */
let project: string;
let installed: string;
let bridge: Bridge;

beforeAll(async () => {
  project = await mkdtemp(path.join(tmpdir(), "client-user-"));
  installed = path.join(project, "node_modules/bridge-client");
  const built = path.join(project, "built/bridge-client");
  await execa(process.execPath, [path.join(repository, "scripts/build-workspace.ts"), "bridge-client", "--into", path.dirname(built)]);
  await writeFile(path.join(project, "package.json"), JSON.stringify({ type: "module" }));
  // The client and its dependency as files, so that no registry is contacted.
  const sources = [built, path.join(repository, "node_modules/eventsource-parser")];
  const { stdout } = await execa("npm", ["pack", ...sources, "--ignore-scripts", "--json"], { cwd: project });
  const tarballs = (JSON.parse(stdout) as { filename: string }[]).map(({ filename }) => `./${filename}`);
  await execa("npm", ["install", ...tarballs, "--offline", "--ignore-scripts", "--no-audit", "--no-fund"], { cwd: project });
  bridge = await startBridge();
});
afterAll(async () => {
  await bridge?.close();
  await rm(project, { recursive: true, force: true });
});

test("the package contains JavaScript, types, a license, a README and nothing else", async () => {
  const names = await readdir(installed);
  expect(names.filter((name) => !/\.(js|d\.ts)$/.test(name)).toSorted()).toEqual(["LICENSE", "README.md", "package.json"]);
  const manifest = JSON.parse(await readFile(path.join(installed, "package.json"), "utf8")) as object;
  expect(manifest).toMatchObject({ license: "MIT", sideEffects: false, engines: { node: ">=22.12" } });
  expect(manifest).toHaveProperty("dependencies", { "eventsource-parser": expect.stringMatching(/^\^4/) });
  expect(manifest).not.toHaveProperty("private");
  const readme = await readFile(path.join(installed, "README.md"), "utf8");
  expect(readme.match(/\]\((?!https?:|#)[^)]*\)/g)).toBeNull();
});

test("the package runs a task from plain JavaScript", async () => {
  const program = `
    import { BridgeClientError, createBridgeClient, verifyCallback } from "bridge-client";
    const client = createBridgeClient({ url: process.env.BRIDGE_URL, token: "secret-alpha" });
    const { taskId } = await client.dispatch({ provider: "memory", agentId: "writer", message: "Hello, stranger." });
    const types = [];
    for await (const { type } of client.events(taskId)) types.push(type);
    const { result } = await client.waitForTask(taskId);
    const missing = await client.getTask("missing").catch((error) => error instanceof BridgeClientError && error.code);
    console.log(JSON.stringify({ types, output: result.output, missing, callback: await verifyCallback({}, "", []) }));
  `;
  const options = { cwd: project, env: { BRIDGE_URL: bridge.url } };
  const { stdout } = await execa(process.execPath, ["--input-type=module", "--eval", program], options);
  expect(JSON.parse(stdout)).toEqual({
    types: ["execution.started", "assistant.text", "execution.completed"],
    output: "Hello, stranger.",
    missing: "not_found",
    callback: null,
  });
});

test.each([
  ["a browser's project", { lib: ["es2022", "dom"], types: [] }],
  ["a Node project", { lib: ["es2022"], types: ["node"], typeRoots }],
])("%s gets the types of the client", async (_, platform) => {
  const typed = (field: string) => `
    import { createBridgeClient, type BridgeEvent } from "bridge-client";
    const client = createBridgeClient({ url: "http://localhost", getToken: async () => "secret" });
    export async function read(): Promise<string> {
      let text = "";
      for await (const event of client.events("t")) if (event.type === "assistant.text") text += event.data.${field};
      return text;
    }
    export const last = (events: BridgeEvent[]): string | undefined => events.at(-1)?.id;
  `;
  await writeFile(path.join(project, "typed.ts"), typed("content"));
  expect((await compile(platform, ["typed.ts"])).stdout).toBe("");
  await writeFile(path.join(project, "typed.ts"), typed("contents"));
  expect((await compile(platform, ["typed.ts"])).stdout).toContain("Property 'contents' does not exist");
});

test("the examples of its README compile", async () => {
  const page = await readFile(path.join(installed, "README.md"), "utf8");
  const blocks = [...page.matchAll(/```ts\n(.+?)```/gs)].map(([, code]) => `${code}\nexport {};\n`);
  expect(blocks.length).toBeGreaterThan(6);
  // Variables that the examples use and do not declare.
  const globals = `
    declare var bridge: import("bridge-client").BridgeClient;
    declare var lastId: string;
    declare var signal: AbortSignal;
  `;
  const sources: Record<string, string> = Object.fromEntries([
    ["globals.d.ts", globals],
    ...blocks.map((code, index) => [`block-${index}.ts`, code]),
  ]);
  for (const [name, text] of Object.entries(sources)) await writeFile(path.join(project, name), text);
  expect((await compile({ lib: ["es2022"], types: ["node"], typeRoots }, Object.keys(sources))).stdout).toBe("");
});

/** Type-checks files of the project in strict mode. */
async function compile(platform: object, files: string[]) {
  const compilerOptions = { strict: true, module: "nodenext", target: "es2022", noEmit: true, skipLibCheck: false, ...platform };
  await writeFile(path.join(project, "tsconfig.json"), JSON.stringify({ compilerOptions, files }));
  return execa(path.join(repository, "node_modules/.bin/tsc"), ["-p", project], { cwd: project, reject: false });
}
