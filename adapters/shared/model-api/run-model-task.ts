import {
  isStepCount,
  jsonSchema,
  type ModelMessage,
  Output,
  experimental_streamTextLowMemory as streamText,
  type TextStreamPart,
  type ToolSet,
  tool,
  wrapLanguageModel,
} from "ai";
import type { AdapterCapabilities, ExecutionRequest, NormalizedTool } from "#contract";
import type { ConnectionResult, ProgramTask } from "../agent-program/agent-program.ts";
import { applyStep, type Outcome } from "../agent-program/run-program.ts";
import type { OpenCall } from "../declared-tools/open-calls.ts";
import { measureEncodedSize } from "../process/encoded-size.ts";
import { failure } from "../process/failure.ts";
import { PROCESS_LIMITS } from "../process/run-process.ts";
import { createCallPermission } from "./call-permission.ts";
import type { Conversations } from "./conversations.ts";
import { createPartReader } from "./events.ts";
import { createExactInputs } from "./exact-inputs.ts";
import { openMcpTools } from "./mcp-tools.ts";
import type { ModelEndpoint } from "./model-endpoint.ts";
import { explainError, ModelFailure } from "./model-failure.ts";
import type { ModelHttp } from "./model-http.ts";
import { appendUserMessage } from "./open-calls.ts";
import { reportLimit } from "./report-limit.ts";
import { requireEventStream } from "./require-event-stream.ts";
import { parseModelSettings } from "./settings.ts";
import { omitEarlierThoughts } from "./thoughts.ts";
import { makeCallIdsUnique } from "./unique-call-ids.ts";

/** The state of a connection that outlives a task. */
export interface ModelState {
  http: ModelHttp;
  conversations: Conversations;
}

/** The model that a task calls. */
export interface ModelCall extends ModelState {
  endpoint: ModelEndpoint;
  modelId: string;
  capabilities: AdapterCapabilities;
}

/** Retries of a call that has not started to answer. The server may have closed an idle connection. */
const RETRIES = 1;
/** Limit of reasoning, tool inputs and tool results per task. The text has a separate limit. */
const MAX_HIDDEN_BYTES = PROCESS_LIMITS.stdoutBytes;

// The warnings of the SDK would go to stdout, which is Bridge's log.
globalThis.AI_SDK_LOG_WARNINGS = false;

/** Runs one task: a turn of a conversation with a model, including its tool calls. */
export async function runModelTask(task: ProgramTask, call: ModelCall): Promise<ConnectionResult> {
  const { request, signal } = task;
  const { home } = request.directories;
  const { conversations, capabilities } = call;
  const resumeToken = capabilities.sessionResume ? request.resumeToken : undefined;
  /** The token of the conversation as it was before the turn. A failed turn returns it. */
  let previousToken: Pick<ConnectionResult, "resumeToken"> = {};
  try {
    const previousMessages = resumeToken === undefined ? [] : await conversations.read(home, resumeToken);
    if (resumeToken !== undefined) previousToken = { resumeToken };
    const messages = appendUserMessage(previousMessages, request.message);
    const { result, response } = await runTurn(task, call, messages);
    if (result.status === "error" || !capabilities.sessionResume) return { ...result, ...previousToken };
    const token = await store(task, call, resumeToken, [...messages, ...response]);
    return { ...result, ...(token !== undefined && { resumeToken: token }) };
  } catch (error) {
    if (signal.aborted) return { ...CANCELLED, ...previousToken };
    if (error instanceof ModelFailure) return { ...failure(error.errorCode, error.message), ...previousToken };
    throw error;
  }
}

/** Stores the conversation and returns its token. If that fails, the answer stays valid, but the conversation cannot be resumed. */
async function store(
  { request, context }: ProgramTask,
  { conversations }: ModelCall,
  token: string | undefined,
  messages: readonly ModelMessage[],
): Promise<string | undefined> {
  try {
    return await conversations.write(request.directories.home, token, messages);
  } catch (error) {
    context.logger.error({ taskId: request.taskId, err: error }, "failed to store the conversation");
    return undefined;
  }
}

interface Turn {
  result: ConnectionResult;
  /** The messages that the turn adds to the conversation. */
  response: ModelMessage[];
}

async function runTurn(task: ProgramTask, call: ModelCall, messages: ModelMessage[]): Promise<Turn> {
  const { request, timeline } = task;
  const { endpoint, modelId } = call;
  const hiddenLimit = new AbortController();
  const signal = AbortSignal.any([task.signal, hiddenLimit.signal]);
  const { maxSteps } = parseModelSettings(task.context.settings);
  const permission = createCallPermission(task, signal);
  function explain(error: unknown): Outcome {
    reportLimit(error, task);
    return explainError(error, endpoint);
  }
  const declaredTools = createDeclaredTools(request.tools);
  const mcp = await openMcpTools({ ...task, signal }, Object.keys(declaredTools), endpoint.toolImages ?? false);
  let facts: Omit<Partial<ConnectionResult>, "status"> = { model: modelId };
  let reported: Outcome | null = null;
  let response: ModelMessage[] = [];
  let hiddenBytes = 0;
  const reader = createPartReader({
    explain,
    maxSteps,
    requestedModel: modelId,
    ...(endpoint.readMetadata !== undefined && { readMetadata: endpoint.readMetadata }),
  });
  try {
    const tools = { ...declaredTools, ...mcp.tools };
    const exactInputs = createExactInputs(tools);
    const result = streamText({
      model: wrapLanguageModel({
        model: endpoint.createModel(modelId, requireEventStream(call.http.fetch, endpoint), request),
        middleware: [omitEarlierThoughts, makeCallIdsUnique(messages), exactInputs.middleware],
      }),
      ...(request.systemPrompt !== undefined && { instructions: request.systemPrompt }),
      messages,
      tools,
      experimental_refineToolInput: exactInputs.refineToolInput,
      ...outputOf(request, endpoint, tools),
      stopWhen: isStepCount(maxSteps),
      prepareStep: permission.prepareStep,
      maxRetries: RETRIES,
      abortSignal: signal,
      onEnd: ({ responseMessages }) => {
        response = responseMessages;
      },
      // The stream reports the error, too.
      onError: () => {},
    });
    for await (const part of result.stream) {
      hiddenBytes += measureHiddenSize(part);
      if (hiddenBytes > MAX_HIDDEN_BYTES) hiddenLimit.abort();
      for (const step of reader.read(part)) {
        if (step.kind === "facts") facts = { ...facts, ...step.facts };
        else if (step.kind === "ended") reported ??= step.outcome;
        else applyStep(timeline, step);
      }
      if (part.type === "finish-step") permission.noteReport();
    }
  } catch (error) {
    reported ??= explain(error);
  } finally {
    await mcp.close();
  }
  for (const { toolCallId } of (facts.outputs?.["toolCalls"] ?? []) as OpenCall[]) timeline.leaveToolOpen(toolCallId);
  const outcome = task.signal.aborted ? CANCELLED : hiddenLimit.signal.aborted ? TOO_LONG : (reported ?? UNFINISHED);
  const { usage } = reader;
  return { result: { ...facts, ...(usage !== undefined && { usage }), ...outcome }, response };
}

/** Creates the declared tools. They have no implementation, because the caller executes them. A call ends the turn. */
const createDeclaredTools = (tools: readonly NormalizedTool[] = []): ToolSet =>
  Object.fromEntries(
    tools.map(({ name, description, inputSchema }) => [name, tool({ description, inputSchema: jsonSchema(inputSchema) })]),
  );

/**
 * Passes the schema to an endpoint that can enforce it. Omits the schema if there are tools: some vendors would forbid or force tool calls.
 */
function outputOf({ outputStrategy }: ExecutionRequest, { structuredOutput = false }: ModelEndpoint, tools: ToolSet) {
  if (outputStrategy.type !== "structured" || !structuredOutput || Object.keys(tools).length > 0) return {};
  return { output: Output.object({ schema: jsonSchema(outputStrategy.schema) }) };
}

function measureHiddenSize(part: TextStreamPart<ToolSet>): number {
  if (part.type === "reasoning-delta") return measureEncodedSize(part.text);
  if (part.type === "tool-input-delta") return Buffer.byteLength(part.delta);
  if (part.type === "tool-error") return measureEncodedSize(String(part.error));
  return part.type === "tool-result" ? Buffer.byteLength(JSON.stringify(part.output) ?? "") : 0;
}

const CANCELLED = failure("cancelled", "The task was canceled.");
const UNFINISHED = failure("model_error", "The model's answer is incomplete: the stream ended early. Dispatch again.");
const TOO_LONG = failure("output_limit", `The reasoning and the tool results of this task exceed ${MAX_HIDDEN_BYTES / 1024 ** 2} MiB.`);
