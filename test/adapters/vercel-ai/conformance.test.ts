import path from "node:path";
import { afterAll } from "vitest";
import { createVercelAiAdapter } from "../../../adapters/vercel-ai/index.ts";
import { adapterConformance } from "../../conformance/adapter.ts";
import { createModelServer, type ModelServer } from "../../runtimes/model-server/server.ts";

const model = await createModelServer();
afterAll(() => model.close());

const asks = (steps: Parameters<ModelServer["scenario"]>[0]) => ({ systemPrompt: `Be brief. ${model.scenario(steps)}` });
const wordsServer = path.join(import.meta.dirname, "../../fixtures/programs/words-mcp-server.js");
const usesTool = () => ({
  ...asks([
    { say: "I will look it up.", tools: [{ kind: "raw", name: "mcp__words__change", input: { key: "k" } }] },
    { text: "It says so, and that is all that I can tell." },
  ]),
  mcpServers: [{ name: "words", transport: "stdio" as const, command: process.execPath, args: [wordsServer] }],
});

const tables = [
  // Prompt 130, 20 of them cached, answer 30, 5 of them thinking; Anthropic counts what it writes to its cache, too.
  {
    protocol: "openai-compatible",
    usage: { inputTokens: 130, outputTokens: 30, thinkingTokens: 5, cacheReadTokens: 20 },
  },
  {
    protocol: "anthropic",
    usage: { inputTokens: 150, outputTokens: 30, thinkingTokens: 5, cacheReadTokens: 20, cacheWriteTokens: 10 },
  },
] as const;

for (const { protocol, usage } of tables)
  adapterConformance(`vercel-ai over ${protocol}`, {
    createAdapter: createVercelAiAdapter,
    config: { settings: { protocol, baseUrl: `${model.url}/v1`, apiKey: "a-test-key", model: "scripted" } },
    scenarios: {
      speak: (text) => asks([{ text }]),
      echo: () => asks([{ echo: true }]),
      hang: () => asks([{ hang: true, say: "I begin." }]),
      fail: { errorCode: "authentication_required", ask: () => asks([{ error: 401 }]) },
      useTool: usesTool,
      askFirst: usesTool,
      resume: {
        remember: (text) => ({ ...asks([{ text: "I will." }]), message: `Remember ${text}.` }),
        recall: () => ({ ...asks([{ recall: true }]), message: "What was it?" }),
        usagePerTurn: usage,
      },
      cost: null,
    },
    hasProcesses: false,
  });
