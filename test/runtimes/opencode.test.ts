import path from "node:path";
import { afterAll } from "vitest";
import { createOpenCodeAdapter } from "../../adapters/opencode/index.ts";
import { promptOpening } from "../../adapters/program/prompt.ts";
import { adapterConformance } from "../conformance/adapter.ts";
import { createModelServer } from "./model-server/server.ts";
import { runtimesPath } from "./programs.ts";

const model = await createModelServer({ messagePrefix: promptOpening });
afterAll(() => model.close());

const env = { PATH: `${runtimesPath()}${path.delimiter}${process.env["PATH"]}` };
const settings = {
  config: {
    model: "scripted/model",
    provider: {
      scripted: {
        npm: "@ai-sdk/openai-compatible",
        options: { baseURL: `${model.url}/v1`, apiKey: "sk-of-the-runtime-suite" },
        models: { model: { cost: { input: 1, output: 2, cache_read: 0.5 }, limit: { context: 1_000_000, output: 8_000 } } },
      },
    },
  },
};
const play = (...steps: Parameters<typeof model.scenario>[0]) => ({ message: model.scenario(steps) });

for (const connection of ["http-api", "cli"] as const) {
  adapterConformance(`opencode over ${connection}`, {
    createAdapter: createOpenCodeAdapter,
    config: { settings: { ...settings, connection }, env },
    hasProcesses: true,
    patienceMs: 45_000,
    scenarios: {
      speak: (text) => play({ text }),
      echo: () => ({ systemPrompt: model.scenario([{ echo: true }]) }),
      hang: () => play({ tools: [{ kind: "read", path: "nothing" }] }, { say: "I wait.", tools: [{ kind: "shell", command: "sleep 60" }] }),
      fail: { errorCode: "authentication_required", ask: () => play({ error: 401 }) },
      useTool: () =>
        play({ say: "I look.", tools: [{ kind: "shell", command: "echo seen" }] }, { text: "I have seen it, and that is all." }),
      resume: {
        remember: (text) => ({ message: `${text} ${play({ text: "I keep it." }).message}` }),
        recall: () => play({ recall: true }),
        usagePerTurn: { inputTokens: 130, outputTokens: 30, thinkingTokens: 5, cacheReadTokens: 20, cacheWriteTokens: 0 },
      },
      // 110 fresh tokens at 1, 20 cached ones at 0.5 and 30 at 2, by the million.
      cost: { costUsd: 0.00018, ask: () => play({ text: "A known price." }) },
    },
  });
}
