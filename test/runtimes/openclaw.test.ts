import { afterAll } from "vitest";
import { createOpenClawAdapter } from "../../adapters/openclaw/index.ts";
import { promptOpening } from "../../adapters/program/prompt.ts";
import { adapterConformance } from "../conformance/adapter.ts";
import { createModelServer } from "./model-server/server.ts";
import { startGateway } from "./openclaw/start-gateway.ts";

const model = await createModelServer({ messagePrefix: promptOpening });
const gateway = await startGateway({
  modelUrl: model.url,
  change: (config) => {
    config.agents["entries"] = { main: {}, conformance: {} };
  },
});
afterAll(async () => {
  await gateway.close();
  await model.close();
});

const play = (...steps: Parameters<typeof model.scenario>[0]) => ({ message: model.scenario(steps) });
const exec = (command: string) => ({ kind: "shell", command }) as const;

adapterConformance("openclaw", {
  createAdapter: createOpenClawAdapter,
  config: { settings: { url: gateway.url, token: gateway.token } },
  hasProcesses: false,
  patienceMs: 60_000,
  scenarios: {
    speak: (text) => play({ text }),
    echo: () => ({ systemPrompt: model.scenario([{ echo: true }]) }),
    hang: () => play({ say: "I wait.", tools: [exec("sleep 60")] }),
    // After a 401 the gateway asks that provider no more for a minute, and a 500 it tries again for as long.
    fail: { errorCode: "model_error", ask: () => play({ error: 400 }) },
    useTool: () => play({ say: "I look.", tools: [exec("echo seen")] }, { text: "I have seen it, and that is all." }),
    resume: {
      remember: (text) => ({ message: `${text} ${play({ text: "I keep it." }).message}` }),
      recall: () => play({ recall: true }),
      usagePerTurn: { inputTokens: 130, outputTokens: 30, thinkingTokens: 5, cacheReadTokens: 20, cacheWriteTokens: 0 },
    },
    askFirst: () => play({ say: "May I?", tools: [exec("touch asked.txt")] }, { text: "Well." }),
    // 110 fresh tokens at 1, 20 cached ones at 0.5 and 30 at 2, by the million.
    cost: { costUsd: 0.00018, ask: () => play({ text: "A known price." }) },
  },
});
