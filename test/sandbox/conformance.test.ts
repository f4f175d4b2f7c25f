import path from "node:path";
import { createCommandAdapter } from "../../adapters/command/index.ts";
import { adapterConformance } from "../conformance/adapter.ts";
import { openSandbox } from "./open-sandbox.ts";

const agent = path.join(import.meta.dirname, "../fixtures/programs/scripted-agent.js");
const asked = (does: string, rest: object = {}) => ({ metadata: { does, ...rest } });

adapterConformance("command in a sandbox", {
  createAdapter: createCommandAdapter,
  config: { settings: { argv: [process.execPath, agent], env: [] }, sandbox: await openSandbox() },
  hasProcesses: true,
  scenarios: {
    speak: (text) => asked("speak", { text }),
    echo: () => asked("echo-message"),
    hang: () => asked("hang"),
    fail: { errorCode: "rate_limited", ask: () => asked("fail", { errorCode: "rate_limited" }) },
    useTool: () => asked("use-a-tool"),
    resume: {
      remember: (text) => asked("remember", { text }),
      recall: () => asked("recall"),
      usagePerTurn: { inputTokens: 12, outputTokens: 3 },
    },
    cost: { costUsd: 0.25, ask: () => asked("cost") },
  },
});
