import { randomUUID } from "node:crypto";
import type { Provider } from "@hak2i/responder-bridge";
import { BridgeClientError, createBridgeClient } from "bridge-client";

/** Which agent behind which Bridge writes the document. */
export interface BridgeProviderOptions {
  url: string;
  token: string;
  agentId: string;
  /** The adapter; may be left out when Bridge has one. */
  runtime?: string | undefined;
  timeoutSeconds?: number | undefined;
}

/** Creates a provider that hands each prompt as a task to a running Bridge and waits for its end, over restarts too. */
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
        // An answer is all that is wanted.
        profile: "inspect",
      } as const;
      try {
        const { state, result } = await client.run(task, { signal });
        if (state === "completed") return { text: result?.output ?? "" };
        throw new Error(
          `The task ${taskId} of Bridge ended as ${state}: ${result?.error ?? "no reason given"} (${result?.errorCode ?? "no code"})`,
        );
      } catch (error) {
        if (signal?.aborted) await client.cancel(taskId, { signal: AbortSignal.timeout(CANCEL_LIMIT_MS) }).catch(() => {});
        throw error instanceof BridgeClientError ? new Error(describe(error), { cause: error }) : error;
      }
    },
  };
}

/** A restart of Bridge fits in, and a wrong address is told before anybody gives up. */
const PATIENCE_MS = 30_000;
/** Whoever has pressed Ctrl-C does not wait longer. */
const CANCEL_LIMIT_MS = 2_000;

function describe({ message, errors }: BridgeClientError): string {
  return [message, ...errors.map(({ path, message: reason }) => `${path}: ${reason}`)].join(" ");
}
