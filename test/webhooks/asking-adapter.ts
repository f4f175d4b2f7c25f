import { createInMemoryAdapter } from "../adapters/in-memory-adapter.ts";

/** An adapter for started programs: each task asks for an approval and returns the decision. */
export const createAdapter = () =>
  createInMemoryAdapter({
    provider: "asking",
    async run({ taskId }, emit, _signal, requestApproval) {
      const call = { toolCallId: "call-1", toolName: "delete", input: { path: "a.md" } };
      emit("tool.invoked", call);
      return { output: (await requestApproval({ taskId, ...call })).decision };
    },
  });
