import type { AdapterConfig, ExecutionResult } from "#contract";
import { createInMemoryAdapter } from "../adapters/in-memory-adapter.ts";

/** Runs each comma-separated part of the message as a child task on `command`; the result contains the sum of their costs. */
export function createAdapter() {
  let config: AdapterConfig | undefined;
  const adapter = createInMemoryAdapter({
    provider: "family",
    async run({ taskId, message }) {
      const results: ExecutionResult[] = [];
      for (const part of message.split(",")) {
        const result = await config?.runChild({ parentTaskId: taskId, provider: "command", message: part });
        if (result !== undefined) results.push(result);
      }
      return { output: "done", costUsd: results.reduce((sum, { costUsd = 0 }) => sum + costUsd, 0) };
    },
  });
  const initialize = async (given: AdapterConfig) => {
    config = given;
    await adapter.initialize(given);
  };
  return { ...adapter, initialize };
}
