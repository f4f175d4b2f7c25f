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
import type { ExecutionRequest, GatewayCapabilities, NormalizedTool } from "#contract";
import type { ConnectionResult, ProgramTask } from "../agent-program/agent-program.ts";
import { applyStep, type Outcome } from "../agent-program/run-program.ts";
import type { OpenCall } from "../declared-tools/open-calls.ts";
import { encodedSize } from "../process/encoded-size.ts";
import { PROCESS_LIMITS } from "../process/run-process.ts";
import type { Conversations } from "./conversations.ts";
import { createPartReader } from "./events.ts";
import { openMcpTools } from "./mcp-tools.ts";
import type { ModelEndpoint } from "./model-endpoint.ts";
import { explainError, ModelFailure } from "./model-failure.ts";
import type { ModelHttp } from "./model-http.ts";
import { continueWith } from "./open-calls.ts";
import { costOf } from "./prices.ts";
import { modelSettingsOf } from "./settings.ts";
import { makeCallIdsUnique } from "./unique-call-ids.ts";

/** What a connection holds between tasks. */
export interface ModelState {
  http: ModelHttp;
  conversations: Conversations;
}

/** Whom a task speaks to. */
export interface ModelCall extends ModelState {
  endpoint: ModelEndpoint;
  modelId: string;
  capabilities: GatewayCapabilities;
}

/** One more try of a call that has not begun to answer: a kept connection may have been closed at the other end meanwhile. */
const RETRIES = 1;
/** What a model thinks, and what tools give it, may be so long in one task; its text has a bound of its own. */
const MAX_UNTOLD_BYTES = PROCESS_LIMITS.stdoutBytes;

// It would write to stdout, which is Bridge's log.
globalThis.AI_SDK_LOG_WARNINGS = false;

/** Runs one task: a turn of a conversation with a model, and the tools that it calls. */
export async function converse(task: ProgramTask, call: ModelCall): Promise<ConnectionResult> {
  const { request, signal } = task;
  const { home } = request.directories;
  const { conversations, capabilities } = call;
  const resumeToken = capabilities.sessionResume ? request.resumeToken : undefined;
  /** What can be gone on with, however this turn ends. */
  let kept: Pick<ConnectionResult, "resumeToken"> = {};
  try {
    const earlier = resumeToken === undefined ? [] : await conversations.read(home, resumeToken);
    if (resumeToken !== undefined) kept = { resumeToken };
    const messages = continueWith(earlier, request.message);
    const { ending, response } = await takeTurn(task, call, messages);
    const costUsd = taskCost(task, call, ending);
    const told = { ...ending, ...(costUsd !== undefined && { costUsd }) };
    // A turn that failed leaves the conversation as it was.
    if (ending.status === "error" || !capabilities.sessionResume) return { ...told, ...kept };
    const token = await keep(task, call, resumeToken, [...messages, ...response]);
    return { ...told, ...(token !== undefined && { resumeToken: token }) };
  } catch (error) {
    if (signal.aborted) return { ...cancelled, ...kept };
    if (error instanceof ModelFailure) return { ...failure(error.errorCode, error.message), ...kept };
    throw error;
  }
}

/** An answer that cannot be kept is an answer all the same; without a token nobody goes on with what has not heard it. */
async function keep(
  { request, context }: ProgramTask,
  { conversations }: ModelCall,
  token: string | undefined,
  messages: readonly ModelMessage[],
): Promise<string | undefined> {
  try {
    return await conversations.write(request.directories.home, token, messages);
  } catch (error) {
    context.logger.error({ taskId: request.taskId, err: error }, "the conversation of the task cannot be kept");
    return undefined;
  }
}

interface Turn {
  ending: ConnectionResult;
  /** What the turn adds to the conversation. */
  response: ModelMessage[];
}

async function takeTurn(task: ProgramTask, call: ModelCall, messages: ModelMessage[]): Promise<Turn> {
  const { request, timeline } = task;
  const { endpoint, modelId } = call;
  const tooMuch = new AbortController();
  const signal = AbortSignal.any([task.signal, tooMuch.signal]);
  const { maxSteps } = modelSettingsOf(task.context.settings);
  const explain = (error: unknown): Outcome => explainError(error, endpoint);
  const declared = declaredTools(request.tools);
  const mcp = await openMcpTools({ ...task, signal }, Object.keys(declared));
  let facts: Omit<Partial<ConnectionResult>, "status"> = { model: modelId };
  let told: Outcome | null = null;
  let response: ModelMessage[] = [];
  let untold = 0;
  const reader = createPartReader({
    explain,
    maxSteps,
    ...(endpoint.readMetadata !== undefined && { readMetadata: endpoint.readMetadata }),
  });
  try {
    const tools = { ...declared, ...mcp.tools };
    const result = streamText({
      model: wrapLanguageModel({
        model: endpoint.createModel(modelId, call.http.fetch, request),
        middleware: makeCallIdsUnique(messages),
      }),
      ...(request.systemPrompt !== undefined && { instructions: request.systemPrompt }),
      messages,
      tools,
      ...outputOf(request, endpoint, tools),
      stopWhen: isStepCount(maxSteps),
      maxRetries: RETRIES,
      abortSignal: signal,
      onEnd: ({ responseMessages }) => {
        response = responseMessages;
      },
      // It is told as a part of the stream, too.
      onError: () => {},
    });
    for await (const part of result.stream) {
      untold += untoldSize(part);
      if (untold > MAX_UNTOLD_BYTES) tooMuch.abort();
      for (const step of reader.read(part)) {
        if (step.kind === "facts") facts = { ...facts, ...step.facts };
        else if (step.kind === "ended") told ??= step.outcome;
        else applyStep(timeline, step);
      }
    }
  } catch (error) {
    told ??= explain(error);
  } finally {
    await mcp.close();
  }
  for (const { toolCallId } of (facts.outputs?.["toolCalls"] ?? []) as OpenCall[]) timeline.leaveToolOpen(toolCallId);
  const verdict = task.signal.aborted ? cancelled : tooMuch.signal.aborted ? endless : (told ?? unfinished);
  const { usage } = reader;
  return { ending: { ...facts, ...(usage !== undefined && { usage }), ...verdict }, response };
}

/** Tools that nobody here works: a call of one ends the turn. */
const declaredTools = (tools: readonly NormalizedTool[] = []): ToolSet =>
  Object.fromEntries(
    tools.map(({ name, description, inputSchema }) => [name, tool({ description, inputSchema: jsonSchema(inputSchema) })]),
  );

/** A schema is left to the endpoint where it can; not beside tools, which some vendors then no longer let the model call, or make it call. */
function outputOf({ outputStrategy }: ExecutionRequest, { structuredOutput = false }: ModelEndpoint, tools: ToolSet) {
  if (outputStrategy.type !== "structured" || !structuredOutput || Object.keys(tools).length > 0) return {};
  return { output: Output.object({ schema: jsonSchema(outputStrategy.schema) }) };
}

function untoldSize(part: TextStreamPart<ToolSet>): number {
  if (part.type === "reasoning-delta") return encodedSize(part.text);
  if (part.type === "tool-input-delta") return Buffer.byteLength(part.delta);
  if (part.type === "tool-error") return encodedSize(String(part.error));
  return part.type === "tool-result" ? Buffer.byteLength(JSON.stringify(part.output) ?? "") : 0;
}

function taskCost({ context }: ProgramTask, { modelId }: ModelCall, { model, usage }: ConnectionResult): number | undefined {
  const { prices } = modelSettingsOf(context.settings);
  return prices === undefined || usage === undefined ? undefined : costOf(prices, [model, modelId], usage);
}

const failure = (errorCode: NonNullable<Outcome["errorCode"]>, error: string): Outcome => ({ status: "error", errorCode, error });
const cancelled = failure("cancelled", "The task was cancelled.");
const unfinished = failure("model_error", "The model's answer ended before its end.");
const endless = failure("output_limit", `The reasoning and the tool results of this task exceed ${MAX_UNTOLD_BYTES / 1024 ** 2} MiB.`);
