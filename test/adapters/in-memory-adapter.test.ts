import { once } from "node:events";
import type { ExecutionRequest } from "#contract";
import { adapterConformance } from "../conformance/adapter.ts";
import { createInMemoryAdapter, deltasOf, type Emit, type Run } from "./in-memory-adapter.ts";

const usage = { inputTokens: 5, outputTokens: 2 };

/** A runtime that reads what it shall do from the request's metadata. */
function createRun(streaming: boolean): Run {
  const sessions = new Map<string, string>();
  return async ({ taskId, message, metadata, resumeToken }: ExecutionRequest, emit: Emit, signal: AbortSignal) => {
    const answer = (output: string) => {
      if (streaming) for (const content of deltasOf(output)) emit("assistant.text", { content });
      return { output };
    };
    switch (metadata?.["does"]) {
      case "echo":
        return answer(message);
      case "hang":
        emit("execution.progress", { working: true });
        if (!signal.aborted) await once(signal, "abort");
        return {};
      case "fail":
        return { status: "error", errorCode: "model_error", error: "as asked" };
      case "use-tool":
        emit("tool.invoked", { toolCallId: "1", toolName: "look", input: {} });
        emit("tool.completed", { toolCallId: "1", toolName: "look", output: "seen", isError: false });
        return answer("done");
      case "remember":
        sessions.set(taskId, String(metadata["text"]));
        return { ...answer("noted"), resumeToken: taskId, usage };
      case "recall":
        return { ...answer(sessions.get(resumeToken ?? "") ?? "nothing"), usage };
      default:
        return answer(String(metadata?.["text"]));
    }
  };
}

const scenarios = {
  speak: (text: string) => ({ metadata: { text } }),
  echo: () => ({ metadata: { does: "echo" } }),
  hang: () => ({ metadata: { does: "hang" } }),
  fail: { errorCode: "model_error" as const, ask: () => ({ metadata: { does: "fail" } }) },
  useTool: () => ({ metadata: { does: "use-tool" } }),
};

adapterConformance("the in-memory adapter", {
  createAdapter: () => createInMemoryAdapter({ run: createRun(true) }),
  hasProcesses: false,
  scenarios: {
    ...scenarios,
    resume: {
      remember: (text) => ({ metadata: { does: "remember", text } }),
      recall: () => ({ metadata: { does: "recall" } }),
      usagePerTurn: usage,
    },
  },
});

adapterConformance("an adapter that can do next to nothing", {
  createAdapter: () => {
    const modest = { streaming: false, sessionResume: false, costTracking: false, cancellation: false };
    const adapter = createInMemoryAdapter({
      run: async (...task) => {
        const { resumeToken: _, ...result } = await createRun(false)(...task);
        return result;
      },
      capabilities: modest,
    });
    return { ...adapter, cancel: async () => false };
  },
  hasProcesses: false,
  scenarios: { ...scenarios, resume: null },
});
