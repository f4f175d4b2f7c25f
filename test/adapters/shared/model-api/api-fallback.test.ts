import { readdir, utimes } from "node:fs/promises";
import path from "node:path";
import { afterAll, describe, expect, onTestFinished, test } from "vitest";
import type { AdapterConfig } from "#contract";
import { apiConnection } from "../../../../adapters/claude/api.ts";
import { createProgramAdapter } from "../../../../adapters/shared/agent-program/create-program-adapter.ts";
import { addApiFallback } from "../../../../adapters/shared/model-api/api-fallback.ts";
import { openBench } from "../../../conformance/adapter-bench.ts";
import { createModelServer } from "../../../runtimes/model-server/server.ts";
import { temporaryDirectory } from "../../../support/temporary-directory.ts";
import { scriptedConnection, scriptedProgram } from "../agent-program/scripted-program.ts";

const model = await createModelServer();
afterAll(() => model.close());

const env = { PATH: process.env["PATH"], ANTHROPIC_API_KEY: "a-key", ANTHROPIC_BASE_URL: model.url };
const installed = scriptedConnection({ capabilities: { approvals: true } });
const absent = scriptedConnection({ find: () => ({ missing: "It is not installed." }) });
const broken = scriptedConnection({ probe: () => Promise.reject(new Error("Its sandbox does not work.")) });
const scripted = { metadata: { does: "speak", text: "The program." }, systemPrompt: model.scenario([{ text: "The model." }]) };

async function open(program: typeof installed, settings: object = {}, config: Partial<AdapterConfig> = {}) {
  const fixture = openBench({
    createAdapter: () => createProgramAdapter(scriptedProgram(...addApiFallback([program], apiConnection))),
    config: { env, settings: { apiModel: "claude-opus-5-5", ...settings }, ...config },
    hasProcesses: false,
    scenarios: undefined as never,
  });
  onTestFinished(() => fixture.close());
  await fixture.initialize();
  return { ...fixture, health: await fixture.adapter.checkHealth() };
}

test("an installed program runs the tasks, and the preflight reports that the api connection is not used", async () => {
  const { run, health, adapter } = await open(installed);
  expect((await run(scripted)).result).toMatchObject({ output: "The program.", connection: "cli" });
  expect(health).toMatchObject({ status: "healthy", connection: "cli" });
  expect(health.preflight[1]).toMatchObject({
    ok: false,
    detail: expect.stringMatching(/^api: not used, because the program for cli is installed/),
  });
  expect(adapter.capabilities()).toMatchObject({ fileIo: true, mcpServers: true, approvals: true });
});

test("without an installed program the model answers, with the capabilities of a model", async () => {
  const { run, health, adapter } = await open(absent);
  expect((await run(scripted)).result).toMatchObject({ output: "The model.", connection: "api" });
  expect(health).toMatchObject({ status: "healthy", connection: "api" });
  expect(health.preflight).toContainEqual({ step: "multi-agent capability", ok: true, detail: expect.stringMatching(/^none/) });
  expect(adapter.capabilities()).toMatchObject({
    fileIo: false,
    tools: false,
    mcpServers: false,
    approvals: false,
    sessionResume: true,
    sandboxing: true,
    outputStrategies: ["stream", "structured"],
  });
});

test("the fallback is not used for an installed program that fails", async () => {
  const { run, health } = await open(broken);
  expect(health).toMatchObject({ status: "offline", detail: expect.stringContaining("Its sandbox does not work.") });
  expect((await run(scripted)).result).toMatchObject({ status: "error", errorCode: "adapter_offline" });
});

test("the connection setting selects the api connection although a program is installed", async () => {
  const { run, health } = await open(installed, { connection: "api" });
  expect(health).toMatchObject({ status: "healthy", connection: "api" });
  expect((await run(scripted)).result).toMatchObject({ output: "The model.", connection: "api" });
});

test.each([
  [
    { mcpServers: [{ name: "m", transport: "stdio" as const, command: "m" }] },
    /api: this connection does not support MCP servers\. Omit `mcpServers`/,
  ],
  [{ tools: [{ name: "t", description: "", inputSchema: {} }] }, /api: this connection does not support declared tools/],
  [{ outputStrategy: { type: "file" as const, path: "a.md" } }, /api: this connection does not support the output strategy "file"/],
  [{ profile: "modify" as const, approvals: "ask" as const }, /api: this connection does not support approvals/],
  [{ resumeToken: "0b8b0f3e-6c8e-4a53-9f0e-2f1f3a4b5c6d" }, /api: the resume token belongs to a session of the program/],
])("the error names what the api connection does not support: %j", async (changes, words) => {
  const { run } = await open(absent);
  expect((await run({ ...scripted, ...changes })).result).toMatchObject({
    errorCode: "adapter_error",
    error: expect.stringMatching(words),
  });
});

test("a conversation of the api connection is resumed only there", async () => {
  const { result } = await (await open(absent)).run(scripted);
  const resumed = { ...scripted, resumeToken: result.resumeToken as string };
  expect((await (await open(installed)).run(resumed)).result).toMatchObject({
    errorCode: "adapter_error",
    error: expect.stringMatching(/cli: the resume token belongs to a conversation of the api connection/),
  });
  // The other fixture has a separate data directory.
  expect((await (await open(absent)).run(resumed)).result).toMatchObject({
    errorCode: "adapter_error",
    error: expect.stringContaining("The resume token is unknown"),
  });
});

describe("conversations are removed after the retention period", () => {
  test.each([
    ["a program is installed", installed, {}],
    ["the setting selects the program", installed, { connection: "cli" }],
    ["its key is missing", absent, {}, { PATH: env.PATH }],
    ["the proxies are invalid", absent, {}, { ...env, HTTP_PROXY: "no proxy" }],
  ])("conversations are removed after the retention period also if %s by then", async (_, program, settings, later = env) => {
    const filesDir = await temporaryDirectory();
    const directory = path.join(filesDir, "conversations");
    expect((await (await open(absent, {}, { filesDir })).run(scripted)).result).toMatchObject({ status: "ok", connection: "api" });
    const [name = "none"] = await readdir(directory);
    await utimes(path.join(directory, name), 0, 0);
    await open(program, settings, { filesDir, env: later });
    expect(await readdir(directory)).toEqual([]);
  });
});
