import { afterAll } from "vitest";
import { createVercelAiAdapter } from "../../../adapters/vercel-ai/index.ts";
import { type AdapterScenarios, adapterConformance } from "../../conformance/adapter.ts";
import { createModelServer, type ModelServer } from "../../runtimes/model-server/server.ts";

const model = await createModelServer();
afterAll(() => model.close());

for (const protocol of ["openai-compatible", "anthropic"] as const) {
  const asks = (steps: Parameters<ModelServer["scenario"]>[0]) => ({ systemPrompt: `Be brief. ${model.scenario(steps)}` });
  const scenarios: AdapterScenarios = {
    speak: (text) => asks([{ text, chunks: Math.max(3, Math.ceil(text.length / 8192)) }]),
    echo: () => asks([{ echo: true }]),
    hang: () => asks([{ hang: true, say: "I begin." }]),
    fail: { errorCode: "authentication_required", ask: () => asks([{ error: 401 }]) },
    useTool: null,
    resume: null,
    cost: null,
  };
  adapterConformance(`vercel-ai over ${protocol}`, {
    createAdapter: createVercelAiAdapter,
    config: { settings: { protocol, baseUrl: `${model.url}/v1`, apiKey: "a-test-key", model: "scripted" } },
    scenarios,
    hasProcesses: false,
  });
}
