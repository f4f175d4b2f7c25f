// The shortest complete adapter: its "runtime" returns the message, word by word.
// Try it: BRIDGE_ADAPTERS=./examples/adapter/echo-adapter.js npm start
import { setTimeout as delay } from "node:timers/promises";

/** @returns {import("bridge-server/contract").ExecutionAdapter} */
export function createAdapter() {
  const listeners = new Set();
  const running = new Map(); // taskId -> { controller, done }
  let wordDelayMs = null; // null until initialize()

  return {
    provider: "echo",

    async initialize(config) {
      wordDelayMs = Number(config.env.ECHO_WORD_DELAY_MS ?? 0);
    },

    async shutdown() {
      wordDelayMs = null;
      for (const { controller } of running.values()) controller.abort();
      await Promise.all([...running.values()].map(({ done }) => done));
    },

    async checkHealth() {
      if (wordDelayMs === null) return { status: "offline", connection: null, version: null, detail: "not initialized", preflight: [] };
      return { status: "healthy", connection: "in-process", version: "1", detail: null, preflight: [] };
    },

    capabilities: () => ({
      streaming: true,
      sessionResume: false,
      fileIo: false,
      mcpServers: false,
      tools: false,
      sandboxing: false,
      costTracking: false,
      management: false,
      approvals: false,
      cancellation: true,
      outputStrategies: ["stream"],
    }),

    async execute(request) {
      if (wordDelayMs === null) return failure("adapter_offline", "The adapter is not initialized.");
      const controller = new AbortController();
      const done = streamWords(request, controller.signal);
      running.set(request.taskId, { controller, done });
      return done.finally(() => running.delete(request.taskId));
    },

    async cancel(taskHandle) {
      running.get(taskHandle)?.controller.abort();
      return running.has(taskHandle);
    },

    onEvent: (listener) => void listeners.add(listener),
    offEvent: (listener) => void listeners.delete(listener),
  };

  // Expected failures are results. The promise rejects only for bugs.
  async function streamWords({ taskId, message }, signal) {
    const startedAt = performance.now();
    if (message.trim() === "") return failure("model_error", "The message is empty.");
    for (const word of message.split(/(?<=\s)/)) {
      await delay(wordDelayMs ?? 0, undefined, { signal }).catch(() => {});
      if (signal.aborted) return { ...failure("cancelled", "The task was canceled."), durationMs: performance.now() - startedAt };
      for (const listener of listeners) listener({ type: "assistant.text", taskId, data: { content: word } });
    }
    return { status: "ok", output: message, durationMs: performance.now() - startedAt, connection: "in-process" };
  }
}

function failure(errorCode, error) {
  return { status: "error", errorCode, error, durationMs: 0, connection: "in-process" };
}
