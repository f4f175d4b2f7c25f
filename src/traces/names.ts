/**
 * The names of spans and attributes. Those of `gen_ai.*` follow the OpenTelemetry conventions for generative AI, which are in development:
 * https://github.com/open-telemetry/semantic-conventions-genai, version 0.1.0.
 */
export const names = {
  dispatchRoute: "/api/v2/dispatch",
  queueSpan: "bridge.queue",
  approvalSpan: "bridge.approval",
  operation: "gen_ai.operation.name",
  vendor: "gen_ai.provider.name",
  agent: "gen_ai.agent.name",
  conversation: "gen_ai.conversation.id",
  requestModel: "gen_ai.request.model",
  responseModel: "gen_ai.response.model",
  inputTokens: "gen_ai.usage.input_tokens",
  outputTokens: "gen_ai.usage.output_tokens",
  reasoningTokens: "gen_ai.usage.reasoning.output_tokens",
  cacheReadTokens: "gen_ai.usage.cache_read.input_tokens",
  cacheWriteTokens: "gen_ai.usage.cache_creation.input_tokens",
  inputMessages: "gen_ai.input.messages",
  outputMessages: "gen_ai.output.messages",
  tool: "gen_ai.tool.name",
  toolCall: "gen_ai.tool.call.id",
  toolArguments: "gen_ai.tool.call.arguments",
  toolResult: "gen_ai.tool.call.result",
  errorType: "error.type",
  method: "http.request.method",
  route: "http.route",
  status: "http.response.status_code",
  resendCount: "http.request.resend_count",
  serverAddress: "server.address",
  serverPort: "server.port",
  task: "bridge.task.id",
  parentTask: "bridge.parent_task.id",
  tenant: "bridge.tenant",
  provider: "bridge.provider",
  connection: "bridge.connection",
  profile: "bridge.profile",
  cost: "bridge.cost.usd",
  moreTools: "bridge.tools.truncated",
  approval: "bridge.approval.id",
  decision: "bridge.approval.decision",
} as const;

/** The scope of all spans. */
export const SCOPE_NAME = "bridge";
/** The version of the conventions, as the scope reports it. */
export const SCHEMA_URL = "https://opentelemetry.io/schemas/gen-ai/0.1.0";
