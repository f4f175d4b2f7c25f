import { randomUUID } from "node:crypto";
import type { Provider } from "@hak2i/responder-bridge";
import { BridgeClientError, createBridgeClient } from "bridge-client";

/** The Bridge and the agent that write the document. */
export interface BridgeProviderOptions {
  url: string;
  token: string;
  agentId: string;
  /** The adapter; optional when Bridge has only one. */
  runtime?: string | undefined;
  timeoutSeconds?: number | undefined;
}

/**
 * Creates a provider that dispatches each prompt as a task to a running Bridge and waits for its result, also across
 * restarts of Bridge.
 */
export function createBridgeProvider({ url, token, agentId, runtime, timeoutSeconds }: BridgeProviderOptions): Provider {
  const client = createBridgeClient({ url, token, patienceMs: PATIENCE_MS });

  return {
    name: "bridge",
    async generate({ model, messages, signal }) {
      const text = (role: string): string =>
        messages
          .filter((message) => message.role === role)
          .map(({ content }) => content)
          .join("\n\n");
      const taskId = `responder-${randomUUID()}`;
      const task = {
        taskId,
        provider: runtime,
        agentId,
        message: text("user"),
        systemPrompt: text("system"),
        ...(model !== "" && { model }),
        timeoutSeconds,
        // The answer is the only output that is used.
        profile: "inspect",
      } as const;
      try {
        const { state, result } = await client.run(task, { signal });
        if (state === "completed") return { text: result?.output ?? "" };
        throw new Error(
          `Bridge task ${taskId} ended in state ${state}: ${result?.error ?? "no reason given"} (${result?.errorCode ?? "no code"})`,
        );
      } catch (error) {
        if (signal?.aborted) await client.cancel(taskId, { signal: AbortSignal.timeout(CANCEL_LIMIT_MS) }).catch(() => {});
        throw error instanceof BridgeClientError ? new Error(describeError(error), { cause: error }) : error;
      }
    },
  };
}

/** Long enough for a restart of Bridge, and short enough to report a wrong address soon. */
const PATIENCE_MS = 30_000;
/** Maximum time to cancel the task after Ctrl-C. */
const CANCEL_LIMIT_MS = 2_000;

function describeError({ message, errors }: BridgeClientError): string {
  return [message, ...errors.map(({ path, message: reason }) => `${path}: ${reason}`)].join(" ");
}
