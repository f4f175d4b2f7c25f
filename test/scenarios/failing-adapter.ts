import { createInMemoryAdapter } from "../adapters/in-memory-adapter.ts";

/** An adapter for started programs. Each task fails with an error of its model after one call, which costs 0.25. */
export const createAdapter = () =>
  createInMemoryAdapter({
    provider: "failing",
    capabilities: { sandboxing: true },
    async run(_request, emit) {
      emit("usage.reported", { model: "m", usage: { inputTokens: 5, outputTokens: 1 }, costUsd: 0.25 });
      return { status: "error", errorCode: "model_error", error: "It failed." };
    },
  });
