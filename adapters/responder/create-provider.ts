import type { Provider } from "@hak2i/responder-bridge";
import { createOpenAiProvider } from "@hak2i/responder-bridge-openai";
import type { AdapterConfig, ExecutionRequest, ExecutionResult, NormalizedUsage, TaskErrorCode } from "#contract";

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

/** What the models of one task have used up; absent when nobody told. */
export interface Spent {
  usage?: NormalizedUsage;
  costUsd?: number;
}

/** The API that the operator has configured. */
export function openAiProvider(config: AdapterConfig): Provider {
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
      return provider.generate(request);
    },
  };
}

/** Any adapter of this Bridge: every draft is a child task that changes nothing, and is put into `children`. */
export function adapterProvider(
  name: string,
  { config, request, spent, children }: { config: AdapterConfig; request: ExecutionRequest; spent: Spent; children: Promise<unknown>[] },
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
      addTo(spent, result);
      if (result.status === "error") throw new ChildFailure(result);
      return { text: result.output ?? "" };
    },
  };
}

function addTo(spent: Spent, { usage, costUsd }: ExecutionResult): void {
  if (costUsd !== undefined) spent.costUsd = (spent.costUsd ?? 0) + costUsd;
  if (usage === undefined) return;
  const counts = Object.entries(usage).filter((entry): entry is [string, number] => entry[1] !== undefined);
  const sum: Record<string, number> = { inputTokens: 0, outputTokens: 0, ...(spent.usage as Record<string, number> | undefined) };
  for (const [name, count] of counts) sum[name] = (sum[name] ?? 0) + count;
  spent.usage = sum as unknown as NormalizedUsage;
}
