import path from "node:path";
import { afterAll, describe, expect, onTestFinished, test } from "vitest";
import type { AdapterConfig, Connection, ExecutionAdapter } from "#contract";
import { createClaudeAdapter } from "../../adapters/claude/index.ts";
import { createClaudeAgentSdkAdapter } from "../../adapters/claude-agent-sdk/index.ts";
import { createCodexAdapter } from "../../adapters/codex/index.ts";
import { createGeminiAdapter } from "../../adapters/gemini/index.ts";
import { createOpenCodeAdapter } from "../../adapters/opencode/index.ts";
import { PROMPT_OPENING } from "../../adapters/shared/agent-program/prompt.ts";
import { openBench } from "../conformance/adapter-bench.ts";
import { createModelServer } from "./model-server/server.ts";
import { runtimesPath, sdkDirectory } from "./programs.ts";
import { type Runtime, runtimes } from "./table/runtimes.ts";

const model = await createModelServer({ messagePrefix: PROMPT_OPENING });
afterAll(() => model.close());

const adapters: Record<Runtime, { create(): ExecutionAdapter; settings?: object }> = {
  claude: { create: createClaudeAdapter },
  "claude-agent-sdk": { create: createClaudeAgentSdkAdapter, settings: { package: sdkDirectory() } },
  codex: { create: createCodexAdapter },
  gemini: { create: createGeminiAdapter },
  opencode: {
    create: createOpenCodeAdapter,
    settings: { config: JSON.parse(runtimes.opencode.environment(model.url)["BRIDGE_OPENCODE_CONFIG"] ?? "{}") },
  },
};
const REASON = "The task has reached its budget.";
const columns = Object.entries(runtimes).flatMap(([runtime, { connections }]) =>
  connections.map((connection) => [runtime as Runtime, connection] as const),
);

describe.each(columns)("%s over %s", (runtime, connection) => {
  test("a program ends its turn at the first refused call, and calls the model no more", async () => {
    let asked = 0;
    const mayCallModel: AdapterConfig["mayCallModel"] = async () => {
      asked += 1;
      return asked === 1 ? { allowed: true } : { allowed: false, reason: REASON };
    };
    const bench = await open(runtime, connection, mayCallModel);
    const answered = model.usages.length;
    const steps = [{ tools: [{ kind: "shell", command: "echo spent" }] }, { text: "Never." }] as Parameters<typeof model.scenario>[0];
    const { result } = await bench.run({
      message: model.scenario(steps),
      model: runtimes[runtime].model,
      profile: "modify",
      approvals: "allow",
    });
    expect(result.output ?? "").not.toContain("Never.");
    expect(model.usages.length).toBe(answered + 1);
    // The first call, and the refused one. No program may repeat it.
    expect(asked).toBe(2);
  });
});

/** Opens the adapter of a runtime whose model calls need the permission of the test. */
async function open(runtime: Runtime, connection: Connection, mayCallModel: AdapterConfig["mayCallModel"]) {
  const { create, settings } = adapters[runtime];
  const env = { PATH: `${runtimesPath()}${path.delimiter}${process.env["PATH"]}`, ...runtimes[runtime].environment(model.url) };
  const bench = openBench({
    createAdapter: create,
    config: { settings: { connection, modelProxy: "required", ...settings }, env, mayCallModel },
    hasProcesses: true,
    patienceMs: 60_000,
    scenarios: {} as Parameters<typeof openBench>[0]["scenarios"],
  });
  await bench.initialize();
  onTestFinished(async () => {
    await bench.close();
    expect(bench.breaches).toEqual([]);
  });
  return bench;
}
