import { once } from "node:events";
import type { AdapterScenarios } from "../conformance/adapter-bench.ts";
import { deltasOf, type Run } from "./in-memory-adapter.ts";

const usage = { inputTokens: 5, outputTokens: 2 };

/** A runtime for the in-memory adapter that does what the request's `metadata.does` asks for. */
export function createScriptedRun({ streaming }: { streaming: boolean }): Run {
  const sessions = new Map<string, string>();
  return async ({ taskId, message, metadata = {}, resumeToken, approvals }, emit, signal, requestApproval) => {
    const answer = (output: string) => {
      if (streaming) for (const content of deltasOf(output)) emit("assistant.text", { content });
      return { output };
    };
    switch (metadata["does"]) {
      case "echo":
        return answer(message);
      case "hang":
        emit("execution.progress", { working: true });
        if (!signal.aborted) await once(signal, "abort");
        return {};
      case "fail":
        return { status: "error", errorCode: "model_error", error: "as asked" };
      case "cost":
        return { ...answer("worth it"), costUsd: 0.25 };
      case "use-tool":
        emit("tool.invoked", { toolCallId: "1", toolName: "look", input: {} });
        emit("tool.completed", { toolCallId: "1", toolName: "look", output: "seen", isError: false });
        return answer("done");
      case "ask-first": {
        const call = { toolCallId: "1", toolName: "look", input: { at: "it" } };
        emit("tool.invoked", call);
        const { decision, reason } =
          approvals === "ask" ? await requestApproval({ taskId, ...call }) : { decision: "approve" as const, reason: null };
        const isError = decision === "reject";
        emit("tool.completed", { toolCallId: "1", toolName: "look", output: isError ? reason : "seen", isError });
        return answer("done");
      }
      case "remember":
        sessions.set(taskId, String(metadata["text"]));
        return { ...answer("noted"), resumeToken: taskId, usage };
      case "recall":
        return { ...answer(sessions.get(resumeToken ?? "") ?? "nothing"), usage };
      default:
        return answer(String(metadata["text"]));
    }
  };
}

/** How to ask the scripted run. */
export const scriptedScenarios: AdapterScenarios = {
  speak: (text) => ({ metadata: { text } }),
  echo: () => ({ metadata: { does: "echo" } }),
  hang: () => ({ metadata: { does: "hang" } }),
  fail: { errorCode: "model_error", ask: () => ({ metadata: { does: "fail" } }) },
  useTool: () => ({ metadata: { does: "use-tool" } }),
  resume: {
    remember: (text) => ({ metadata: { does: "remember", text } }),
    recall: () => ({ metadata: { does: "recall" } }),
    usagePerTurn: usage,
  },
  askFirst: () => ({ metadata: { does: "ask-first" } }),
  cost: { costUsd: 0.25, ask: () => ({ metadata: { does: "cost" } }) },
};
