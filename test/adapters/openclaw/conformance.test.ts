import { afterAll } from "vitest";
import { createOpenClawAdapter } from "../../../adapters/openclaw/index.ts";
import { adapterConformance } from "../../conformance/adapter.ts";
import { doing, startFakeGateway } from "./fake-gateway.ts";

const gateway = await startFakeGateway({ atEnd: afterAll });

adapterConformance("openclaw, on a gateway that replays recorded responses", {
  createAdapter: createOpenClawAdapter,
  config: { settings: { url: gateway.url, token: gateway.token } },
  hasProcesses: false,
  scenarios: {
    speak: (text) => doing({ say: text }),
    echo: () => ({ systemPrompt: "echo" }),
    hang: () => doing({ hang: true }),
    fail: { errorCode: "model_error", ask: () => doing({ play: "badRequest" }) },
    useTool: () => doing({ play: "tool" }),
    resume: {
      remember: (text) => doing({ play: "speak", remember: text }),
      recall: () => doing({ recall: true }),
      usagePerTurn: { inputTokens: 130, outputTokens: 30, thinkingTokens: 5, cacheReadTokens: 20, cacheWriteTokens: 0 },
    },
    askFirst: () => doing({ play: "approved" }),
    cost: { costUsd: 0.00018, ask: () => doing({ play: "speak" }) },
  },
});
