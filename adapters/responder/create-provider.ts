import type { Provider } from "@hak2i/responder-bridge";
import { createOpenAiProvider, OpenAiError } from "@hak2i/responder-bridge-openai";
import type { AdapterConfig, ExecutionRequest, ExecutionResult, TaskErrorCode } from "#contract";
import type { ChildSpending } from "../shared/agent-program/child-spending.ts";

/** Name of the provider for the operator's OpenAI-compatible API. Every other provider is an adapter. */
export const OPENAI = "openai";

/** The failure of a child task, with its error and code. */
export class ChildFailure extends Error {
  override readonly name = "ChildFailure";
  readonly errorCode: TaskErrorCode;

  constructor({ errorCode = "adapter_error", error = "The child task failed." }: Pick<ExecutionResult, "errorCode" | "error">) {
    super(error);
    this.errorCode = errorCode;
  }
}

/** Creates the provider for the operator's API, which does not report costs. */
export function createOperatorProvider(config: AdapterConfig, spending: ChildSpending): Provider {
  const baseUrl = config.env["OPENAI_BASE_URL"];
  const provider = createOpenAiProvider({
    apiKey: config.env["OPENAI_API_KEY"] ?? null,
    lookup: config.lookup,
    ...(baseUrl === undefined || baseUrl === "" ? {} : { baseUrl }),
  });
  return {
    ...provider,
    async generate(request) {
      if (request.model === "") throw new TypeError("No model is set. Set responderInput.model or BRIDGE_RESPONDER_MODEL.");
      try {
        const answer = await provider.generate(request);
        spending.add({ status: "ok", usage: answer.usage });
        return answer;
      } catch (error) {
        // A response that cannot be used still has a cost, which is unknown.
        if (!(error instanceof OpenAiError) || error.status === null) spending.add({ status: "error" });
        throw error;
      }
    },
  };
}

/**
 * Creates the provider for an adapter of this Bridge. Every draft is a child task with the profile `inspect`, and is added to `children`.
 */
export function createAdapterProvider(
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
      const joinMessages = (kind: "system" | "user") =>
        messages
          .filter(({ role }) => (role === "system") === (kind === "system"))
          .map(({ content }) => content)
          .join("\n\n");
      const systemPrompt = joinMessages("system");
      const child = config.runChild({
        parentTaskId: request.taskId,
        provider: name,
        message: joinMessages("user"),
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
