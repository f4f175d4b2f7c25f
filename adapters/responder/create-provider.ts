import type { Provider } from "@hak2i/responder-bridge";
import { createOpenAiProvider, OpenAiError } from "@hak2i/responder-bridge-openai";
import type { AdapterConfig, ExecutionRequest, ExecutionResult, TaskErrorCode } from "#contract";
import type { ChildSpending } from "../shared/agent-program/child-spending.ts";

/** The name under which a dispatch asks for the operator's OpenAI-compatible API; every other one is an adapter. */
export const OPENAI = "openai";

/** A child task did not answer; its own words and code are the reason. */
export class ChildFailure extends Error {
  override readonly name = "ChildFailure";
  readonly errorCode: TaskErrorCode;

  constructor({ errorCode = "adapter_error", error = "The child task failed." }: Pick<ExecutionResult, "errorCode" | "error">) {
    super(error);
    this.errorCode = errorCode;
  }
}

/** The API that the operator has configured; it reports no cost. */
export function openAiProvider(config: AdapterConfig, spending: ChildSpending): Provider {
  const baseUrl = config.env["OPENAI_BASE_URL"];
  const provider = createOpenAiProvider({
    apiKey: config.env["OPENAI_API_KEY"] ?? null,
    lookup: config.lookup,
    ...(baseUrl === undefined || baseUrl === "" ? {} : { baseUrl }),
  });
  return {
    ...provider,
    async generate(request) {
      if (request.model === "") throw new TypeError("No model is named: set responderInput.model, or BRIDGE_RESPONDER_MODEL.");
      try {
        const answer = await provider.generate(request);
        spending.add({ status: "ok", usage: answer.usage });
        return answer;
      } catch (error) {
        // An answer that came and cannot be used has cost something all the same.
        if (!(error instanceof OpenAiError) || error.status === null) spending.add({ status: "error" });
        throw error;
      }
    },
  };
}

/** Any adapter of this Bridge: every draft is a child task that changes nothing, and is put into `children`. */
export function adapterProvider(
  name: string,
  {
    config,
    request,
    spending,
    children,
  }: { config: AdapterConfig; request: ExecutionRequest; spending: ChildSpending; children: Promise<unknown>[] },
): Provider {
  return {
    name,
    async generate({ model, messages, signal }) {
      signal?.throwIfAborted();
      const textOf = (wanted: "system" | "user") =>
        messages
          .filter(({ role }) => (role === "system") === (wanted === "system"))
          .map(({ content }) => content)
          .join("\n\n");
      const systemPrompt = textOf("system");
      const child = config.runChild({
        parentTaskId: request.taskId,
        provider: name,
        message: textOf("user"),
        ...(systemPrompt === "" ? {} : { systemPrompt }),
        ...(model === "" ? {} : { model }),
        timeoutSeconds: request.timeoutSeconds,
        profile: "inspect",
      });
      children.push(child);
      const result = await child;
      spending.add(result);
      if (result.status === "error") throw new ChildFailure(result);
      return { text: result.output ?? "" };
    },
  };
}
