import { expect } from "vitest";
import { createProgramAdapter } from "../../../../adapters/shared/agent-program/create-program-adapter.ts";
import { type AdapterScenarios, adapterConformance } from "../../../conformance/adapter.ts";
import { processesOf } from "../../../conformance/adapter-bench.ts";
import { scriptedConnection, scriptedProgram } from "./scripted-program.ts";

const asked = (does: string, rest: object = {}) => ({ metadata: { does, ...rest } });

const scenarios: AdapterScenarios = {
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
};

adapterConformance("an agent program", {
  createAdapter: () => createProgramAdapter(scriptedProgram()),
  hasProcesses: true,
  scenarios,
});

const quiet = scriptedConnection({ capabilities: { streaming: false, sessionResume: false, costTracking: false } });
adapterConformance("an agent program that gives no deltas", {
  createAdapter: () => createProgramAdapter(scriptedProgram(quiet)),
  hasProcesses: true,
  isWorking: ({ taskId }) => expect.poll(() => processesOf(taskId)).not.toEqual([]),
  scenarios: { ...scenarios, resume: null, cost: null },
});
