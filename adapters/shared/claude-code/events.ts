import { z } from "zod";
import type { NormalizedUsage, UsageReport } from "#contract";
import { describeFailedServers } from "../agent-program/failed-mcp-servers.ts";
import type { LineReader, Outcome, Step } from "../agent-program/run-program.ts";
import { createMessageMeter, messageUsageSchema } from "./message-usage.ts";
import { type ModelUsage, type ResultLine, readOutcome, resultSchema } from "./result-line.ts";

const blockSchema = z.union([
  z.object({ type: z.literal("text"), text: z.string() }),
  z.object({ type: z.literal("tool_use"), id: z.string(), name: z.string(), input: z.unknown() }),
  z.object({ type: z.literal("tool_result"), tool_use_id: z.string(), content: z.unknown(), is_error: z.boolean().nullish() }),
  z.object({ type: z.string().transform(() => "other" as const) }),
]);
type Block = z.infer<typeof blockSchema>;

const parent = z.string().nullish();
const lineSchema = z.union([
  z.object({ type: z.literal("system"), subtype: z.string(), session_id: z.string(), model: z.string().optional() }).loose(),
  z.object({
    type: z.literal("stream_event"),
    parent_tool_use_id: parent,
    event: z.object({
      type: z.string(),
      index: z.number().optional(),
      message: z.object({ id: z.string(), model: z.string().optional(), usage: messageUsageSchema }).optional(),
      usage: messageUsageSchema,
      delta: z.object({ type: z.string().optional(), text: z.string().optional(), stop_reason: z.string().nullish() }).optional(),
    }),
    /** The stream of the message broke; the blocks from this index on are withdrawn. */
    abandoned_blocks: z.object({ from_block_index: z.number() }).optional(),
  }),
  z.object({
    type: z.literal("assistant"),
    parent_tool_use_id: parent,
    message: z.object({ id: z.string(), model: z.string(), content: z.array(blockSchema) }),
  }),
  z.object({ type: z.literal("tool_progress"), tool_use_id: z.string(), tool_name: z.string(), elapsed_time_seconds: z.number() }),
  z.object({ type: z.literal("user"), parent_tool_use_id: parent, message: z.object({ content: z.array(blockSchema) }) }),
  resultSchema,
]);
type Line = z.infer<typeof lineSchema>;
type StreamLine = Extract<Line, { type: "stream_event" }>;

/** The tool with which the model returns structured output. It is not reported as a tool call. */
const OUTPUT_TOOL = "StructuredOutput";
/** The model name of messages that Claude Code writes itself, such as errors. */
export const NO_MODEL = "<synthetic>";

/** Options of a reader. */
export interface ReaderOptions {
  /** Name of the adapter's setting for the home directory, for error messages about a missing login. */
  homeSetting: string;
  /** Called with the total cost of the session. */
  onSessionCost?(costUsd: number): void;
}

/**
 * Creates a reader for the lines of `claude -p --output-format stream-json --include-partial-messages`. The Claude
 * Agent SDK passes on the same lines.
 */
export function createClaudeReader({ homeSetting, onSessionCost }: ReaderOptions): LineReader {
  const streamedIds = new Set<string>();
  const outputCalls = new Set<string>();
  const meter = createMessageMeter();
  let hasAnswered = false;
  /** The text of the current message since its last tool call, by block. Null between messages. */
  let blocks: string[] | null = null;
  let isRefused = false;

  /** Discards the text of the current message, except `kept`. */
  const discard = (reason: string, kept = ""): Step[] => {
    const text = blocks?.join("") ?? "";
    blocks = null;
    if (text === kept) return [{ kind: "kept" }];
    return [{ kind: "discarded", reason }, ...(kept === "" ? [] : [{ kind: "text", text: kept } as const]), { kind: "kept" }];
  };
  const readStreamEvent = ({ event, abandoned_blocks: abandoned }: StreamLine): Step[] => {
    const { type, message, delta, index = 0 } = event;
    if (type === "message_start" && message !== undefined) {
      streamedIds.add(message.id);
      const steps = blocks === null ? [] : discard(retryReason());
      [blocks, isRefused] = [[], false];
      return steps;
    }
    if (type === "message_delta") isRefused ||= delta?.stop_reason === "refusal";
    if (type === "message_stop") {
      if (isRefused) return discard("The model refused to continue.");
      return discard(retryReason(), blocks?.slice(0, abandoned?.from_block_index).join(""));
    }
    if (type !== "content_block_delta" || delta?.type !== "text_delta") return [];
    const { text = "" } = delta;
    hasAnswered = true;
    if (blocks !== null) blocks[index] = (blocks[index] ?? "") + text;
    return [{ kind: "text", text }];
  };

  const readBlock = (block: Block, { isNewText, subAgentOf }: { isNewText: boolean; subAgentOf: string | null }): Step[] => {
    if (block.type === "text") {
      if (subAgentOf !== null) return [{ kind: "progress", data: { subAgent: { toolCallId: subAgentOf, text: block.text } } }];
      hasAnswered ||= isNewText;
      return isNewText ? [{ kind: "text", text: block.text }] : [];
    }
    if (block.type === "tool_use" && block.name === OUTPUT_TOOL) outputCalls.add(block.id);
    else if (block.type === "tool_use") {
      hasAnswered &&= subAgentOf !== null;
      if (subAgentOf === null) blocks &&= [];
      return [{ kind: "tool.invoked", toolCallId: block.id, toolName: block.name, input: block.input }];
    } else if (block.type === "tool_result" && !outputCalls.has(block.tool_use_id)) {
      const { tool_use_id: toolCallId, content, is_error: isError } = block;
      return [{ kind: "tool.completed", toolCallId, output: joinTextBlocks(content), isError: isError === true }];
    }
    return [];
  };

  return (object) => {
    const line = lineSchema.safeParse(object).data;
    switch (line?.type) {
      case "system":
        return [...(line.subtype === "api_retry" && blocks !== null ? discard(retryReason(line["error"])) : []), ...readSystem(line)];
      case "stream_event": {
        const agent = line.parent_tool_use_id ?? null;
        const reports = meter.read(agent, line.event).map(toUsageStep);
        return agent === null ? [...reports, ...readStreamEvent(line)] : reports;
      }
      case "assistant": {
        if (line.message.model === NO_MODEL) return [];
        // The text of a streamed message has been reported already.
        const options = { isNewText: !streamedIds.has(line.message.id), subAgentOf: line.parent_tool_use_id ?? null };
        const reports = meter.readComplete(line.message.id).map(toUsageStep);
        return [...reports, ...line.message.content.flatMap((block) => readBlock(block, options))];
      }
      case "tool_progress": {
        // Sent every 30 s, so that a slow tool does not look like a runtime that hangs.
        const { tool_use_id: toolCallId, tool_name: toolName, elapsed_time_seconds: elapsedSeconds } = line;
        return [{ kind: "progress", data: { tool: { toolCallId, toolName, elapsedSeconds } } }];
      }
      case "user": {
        const results = line.message.content.filter(({ type }) => type === "tool_result");
        return results.flatMap((block) => readBlock(block, { isNewText: false, subAgentOf: line.parent_tool_use_id ?? null }));
      }
      case "result":
        if (line.total_cost_usd !== undefined) onSessionCost?.(line.total_cost_usd);
        return readResult(line, readOutcome(line, homeSetting), hasAnswered);
      case undefined:
        return [];
    }
  };
}

const mcpServersSchema = z.array(z.object({ name: z.string(), status: z.string() })).catch([]);

/**
 * Lists the MCP servers that a session starts without. Claude Code waits 30 s for its servers; after that, a silent server is `pending`.
 */
export const listFailedServers = (mcpServers: unknown): string[] =>
  mcpServersSchema.parse(mcpServers).flatMap(({ name, status }) => (FAILED_STATUSES.includes(status) ? [name] : []));

const FAILED_STATUSES = ["failed", "needs-auth", "pending"];

type SystemLine = Extract<Line, { type: "system" }>;

function readSystem(line: SystemLine): Step[] {
  const pick = (names: Readonly<Record<string, string>>) =>
    Object.fromEntries(Object.entries(names).map(([name, native]) => [name, line[native] ?? null]));
  switch (line.subtype) {
    case "init": {
      const failedServers = listFailedServers(line["mcp_servers"]);
      return [
        { kind: "facts", facts: { resumeToken: line.session_id, ...(line.model === undefined ? {} : { model: line.model }) } },
        ...(failedServers.length === 0 ? [] : [{ kind: "progress", data: describeFailedServers(failedServers) } as const]),
      ];
    }
    case "api_retry":
      return [
        {
          kind: "progress",
          data: {
            retry: pick({
              attempt: "attempt",
              maxRetries: "max_retries",
              delayMs: "retry_delay_ms",
              httpStatus: "error_status",
              reason: "error",
            }),
          },
        },
      ];
    case "permission_denied":
      return [{ kind: "progress", data: { denied: pick({ toolCallId: "tool_use_id", toolName: "tool_name", reason: "message" }) } }];
    case "task_progress":
      return [{ kind: "progress", data: { subAgent: pick({ toolCallId: "tool_use_id", doing: "description" }) } }];
    default:
      return [];
  }
}

const toUsageStep = (data: UsageReport): Step => ({ kind: "usage", data });

function readResult(line: ResultLine, outcome: Outcome, hasAnswered: boolean): Step[] {
  const { result = "", structured_output: outputs } = line;
  return [
    // The result is the last part of the answer. With structured output, it repeats the JSON, which is the answer only if there is no text.
    ...(outcome.status === "ok" && result !== "" && !(hasAnswered && outputs !== undefined)
      ? [{ kind: "confirmed", text: result } as const]
      : []),
    { kind: "facts", facts: { ...readUsage(line), ...(outputs === undefined ? {} : { outputs }) } },
    { kind: "ended", outcome },
  ];
}

/** Formats the reason of a discarded answer, which Claude Code requests again. */
export const retryReason = (error?: unknown): string =>
  `The model's answer was incomplete${typeof error === "string" ? ` (${error})` : ""}.`;

/**
 * Reads the usage and cost of the task, including sub-agents. The line's `usage` omits sub-agents, and its `total_cost_usd`
 * is the total of the session.
 */
function readUsage({ model_usage_since_last_result: models }: ResultLine): { usage?: NormalizedUsage; costUsd?: number } {
  if (models === undefined) return {};
  const sum = (read: (model: ModelUsage) => number): number => Object.values(models).reduce((total, model) => total + read(model), 0);
  const cacheReadTokens = sum((model) => model.cacheReadInputTokens);
  const cacheWriteTokens = sum((model) => model.cacheCreationInputTokens);
  return {
    usage: {
      inputTokens: sum((model) => model.inputTokens) + cacheReadTokens + cacheWriteTokens,
      outputTokens: sum((model) => model.outputTokens),
      thinkingTokens: sum((model) => model.thinkingTokens),
      cacheReadTokens,
      cacheWriteTokens,
    },
    costUsd: sum((model) => model.costUSD),
  };
}

/** Joins text blocks to one text. Returns other content, such as images, unchanged. */
function joinTextBlocks(content: unknown): unknown {
  const blocks = z.array(z.object({ type: z.literal("text"), text: z.string() })).safeParse(content).data;
  return blocks === undefined ? content : blocks.map(({ text }) => text).join("\n");
}
