import { once } from "node:events";
import type { AdapterConfig } from "#contract";
import { createInMemoryAdapter, type Run } from "../adapters/in-memory-adapter.ts";

/** A runtime that runs until it is released or canceled. */
export function createHeldRuntime() {
  const held: { release: () => void; taskId: string }[] = [];
  const run: Run = async (request, emit, signal) => {
    emit("execution.progress", { step: "held" });
    const { promise, resolve } = Promise.withResolvers<void>();
    held.push({ release: resolve, taskId: request.taskId });
    await Promise.race([promise, once(signal, "abort")]);
    return { output: `did ${request.taskId}` };
  };
  return { run, held };
}

/** A minimal composite adapter: runs its message as a child task on `memory`. */
export function createCompositeAdapter(change: object = {}) {
  let config: AdapterConfig | undefined;
  const adapter = createInMemoryAdapter({
    provider: "composite",
    run: async (request) => {
      const child = await config?.runChild({ parentTaskId: request.taskId, provider: "memory", message: request.message, ...change });
      return child?.status === "ok"
        ? { output: `child said ${child.output}` }
        : { status: "error", errorCode: child?.errorCode ?? "adapter_error", error: child?.error ?? "" };
    },
  });
  const initialize = async (given: AdapterConfig) => {
    config = given;
    await adapter.initialize(given);
  };
  return { ...adapter, initialize };
}
