import type { AdapterEvent, ExecutionAdapter, ExecutionEventListener } from "#contract";
import { type NoopEvent, type Pace, runNoopAgent, runPacedAgent, runTalkingAgent, type Talk } from "./noop-agent.ts";

/** Creates an adapter for the agent that does nothing, so that only Bridge is measured. */
export function createAdapter(): ExecutionAdapter {
  const listeners = new Set<ExecutionEventListener>();
  return {
    provider: "noop",
    async initialize() {},
    async shutdown() {},
    checkHealth: async () => ({ status: "healthy", connection: "in-process", version: null, detail: null, preflight: [] }),
    capabilities: () => ({
      streaming: true,
      sessionResume: false,
      fileIo: true,
      mcpServers: true,
      tools: true,
      sandboxing: false,
      costTracking: false,
      management: false,
      approvals: false,
      cancellation: false,
      outputStrategies: ["stream"],
    }),
    execute({ taskId, metadata }) {
      const emit = (event: NoopEvent) => {
        for (const listener of listeners) listener({ ...event, taskId } as AdapterEvent);
      };
      const talk = metadata?.["talk"] as Talk | undefined;
      if (talk !== undefined) return runTalkingAgent(talk, emit);
      const pace = metadata?.["pace"] as Pace | undefined;
      return pace === undefined ? runNoopAgent(emit) : runPacedAgent(pace, emit);
    },
    cancel: async () => false,
    onEvent: (listener) => void listeners.add(listener),
    offEvent: (listener) => void listeners.delete(listener),
  };
}
