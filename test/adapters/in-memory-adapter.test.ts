import { adapterConformance } from "../conformance/adapter.ts";
import { createInMemoryAdapter } from "./in-memory-adapter.ts";
import { createInMemoryManager } from "./in-memory-manager.ts";
import { createScriptedRun, scriptedScenarios } from "./scripted-run.ts";

adapterConformance("the in-memory adapter", {
  createAdapter: () => createInMemoryAdapter({ run: createScriptedRun({ streaming: true }) }),
  hasProcesses: false,
  scenarios: scriptedScenarios,
});

adapterConformance("an adapter that manages its runtime", {
  createAdapter: () => ({
    ...createInMemoryAdapter({ run: createScriptedRun({ streaming: true }), capabilities: { management: true } }),
    ...createInMemoryManager(),
  }),
  hasProcesses: false,
  scenarios: scriptedScenarios,
});

adapterConformance("an adapter that can do next to nothing", {
  createAdapter: () => ({
    ...createInMemoryAdapter({
      run: createScriptedRun({ streaming: false }),
      capabilities: { streaming: false, sessionResume: false, costTracking: false, cancellation: false, approvals: false },
    }),
    cancel: async () => false,
  }),
  hasProcesses: false,
  scenarios: { ...scriptedScenarios, resume: null, cost: null },
});
