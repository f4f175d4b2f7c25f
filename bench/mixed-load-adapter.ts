import { createInMemoryAdapter } from "../test/adapters/in-memory-adapter.ts";

/** An adapter for the mixed load: tasks answer at once, ask for an approval, or wait until they are canceled. */
export const createAdapter = () =>
  createInMemoryAdapter({
    provider: "mixed",
    async run({ taskId, message }, emit, signal, requestApproval) {
      if (message === "wait") await new Promise((_, reject) => signal.addEventListener("abort", () => reject(new Error("canceled"))));
      if (message === "ask") {
        const call = { toolCallId: "call-1", toolName: "delete", input: { path: "a.md" } };
        emit("tool.invoked", call);
        const { decision } = await requestApproval({ taskId, ...call });
        emit("tool.completed", { toolCallId: "call-1", toolName: "delete", output: decision, isError: decision === "reject" });
      }
      for (let line = 0; line < 20; line += 1) emit("assistant.text", { content: `Line ${line} of the answer of ${taskId}. ` });
      return { output: message, usage: { inputTokens: 5, outputTokens: 3 }, costUsd: 0.25 };
    },
  });
