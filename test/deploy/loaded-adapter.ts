import { createInMemoryAdapter } from "../adapters/in-memory-adapter.ts";

/** An adapter for started programs: its tasks report tokens and a cost. Each asks for an approval if its message is `ask`. */
export const createAdapter = () =>
  createInMemoryAdapter({
    provider: "loaded",
    async run({ taskId, message }, emit, _signal, requestApproval) {
      if (message === "fail") return { status: "error", errorCode: "model_error", error: "It failed." };
      if (message === "ask") {
        const call = { toolCallId: "call-1", toolName: "delete", input: { path: "a.md" } };
        emit("tool.invoked", call);
        await requestApproval({ taskId, ...call });
      }
      emit("assistant.text", { content: message });
      return { output: message, usage: { inputTokens: 5, outputTokens: 3 }, costUsd: 0.25 };
    },
  });
