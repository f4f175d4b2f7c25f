import { afterAll } from "vitest";
import { createOpenClawAdapter } from "../../../adapters/openclaw/index.ts";
import { adapterConformance } from "../../conformance/adapter.ts";
import { messageFor, startFakeGateway } from "./fake-gateway.ts";

const gateway = await startFakeGateway({ atEnd: afterAll });

adapterConformance("openclaw, on a gateway that replays recorded responses", {
  createAdapter: createOpenClawAdapter,
  config: { settings: { url: gateway.url, token: gateway.token } },
  hasProcesses: false,
  scenarios: {
    speak: (text) => messageFor({ text }),
    echo: () => ({ systemPrompt: "echo" }),
    hang: () => messageFor({ hang: true }),
    fail: { errorCode: "model_error", ask: () => messageFor({ play: "badRequest" }) },
    useTool: () => messageFor({ play: "tool" }),
    resume: {
      remember: (text) => messageFor({ play: "speak", remember: text }),
      recall: () => messageFor({ recall: true }),
      usagePerTurn: { inputTokens: 130, outputTokens: 30, thinkingTokens: 5, cacheReadTokens: 20, cacheWriteTokens: 0 },
    },
    askFirst: () => messageFor({ play: "approved" }),
    cost: { costUsd: 0.00018, ask: () => messageFor({ play: "speak" }) },
  },
});
