import { afterAll } from "vitest";
import { createGlooAiAdapter } from "../../../adapters/gloo-ai/index.ts";
import { type AdapterScenarios, adapterConformance } from "../../conformance/adapter.ts";
import { createGlooServer, type GlooServer } from "./gloo-server.ts";

const gloo = await createGlooServer();
afterAll(() => gloo.close());

const asks = (steps: Parameters<GlooServer["scenario"]>[0]) => ({ systemPrompt: `Be brief. ${gloo.scenario(steps)}` });
const scenarios: AdapterScenarios = {
  speak: (text) => asks([{ text }]),
  echo: () => asks([{ echo: true }]),
  hang: () => asks([{ hang: true, say: "I begin." }]),
  fail: { errorCode: "model_error", ask: () => asks([{ error: 500 }]) },
  useTool: null,
  resume: null,
  cost: null,
};

adapterConformance("gloo-ai", {
  createAdapter: createGlooAiAdapter,
  config: { settings: gloo.settings, env: gloo.env },
  scenarios,
  hasProcesses: false,
});
