import path from "node:path";
import { afterAll } from "vitest";
import { createGlooAiAdapter } from "../../../adapters/gloo-ai/index.ts";
import { type AdapterScenarios, adapterConformance } from "../../conformance/adapter.ts";
import { createGlooServer, type GlooServer } from "./gloo-server.ts";

const gloo = await createGlooServer();
afterAll(() => gloo.close());

const asks = (steps: Parameters<GlooServer["scenario"]>[0]) => ({ systemPrompt: `Be brief. ${gloo.scenario(steps)}` });
const wordsServer = path.join(import.meta.dirname, "../../fixtures/programs/words-mcp-server.js");
const usesTool = () => ({
  ...asks([{ tools: [{ kind: "raw", name: "mcp__words__change", input: { key: "k" } }] }, { text: "It is done." }]),
  mcpServers: [{ name: "words", transport: "stdio" as const, command: process.execPath, args: [wordsServer] }],
});
const scenarios: AdapterScenarios = {
  speak: (text) => asks([{ text }]),
  echo: () => asks([{ echo: true }]),
  hang: () => asks([{ hang: true, say: "I begin." }]),
  fail: { errorCode: "model_error", ask: () => asks([{ error: 500 }]) },
  useTool: usesTool,
  askFirst: usesTool,
  resume: {
    remember: (text) => ({ ...asks([{ text: "I will." }]), message: `Remember ${text}.` }),
    recall: () => ({ ...asks([{ recall: true }]), message: "What was it?" }),
    usagePerTurn: { inputTokens: 130, outputTokens: 30, thinkingTokens: 5, cacheReadTokens: 20 },
  },
  cost: null,
};

adapterConformance("gloo-ai", {
  createAdapter: createGlooAiAdapter,
  config: { settings: gloo.settings, env: gloo.env },
  scenarios,
  hasProcesses: false,
});
