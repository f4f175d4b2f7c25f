import type { TextStreamPart, ToolSet } from "ai";
import type { NormalizedUsage } from "#contract";
import type { Outcome, Step } from "../agent-program/run-program.ts";
import type { OpenCall } from "../declared-tools/open-calls.ts";
import type { ModelEndpoint } from "./model-endpoint.ts";
import { sumUsage, usageOf } from "./usage.ts";

/** So much is thought, or put into a tool call, between two signs of life. */
const QUIET_LENGTH = 4_096;

/** Reads one part of a stream at a time; keeps what it must remember between parts. Pure but for that memory. */
export interface PartReader {
  read(part: TextStreamPart<ToolSet>): readonly Step[];
  /** What all calls of the model that have come to their end have used; undefined when one of them has not told. */
  readonly usage: NormalizedUsage | undefined;
}

export interface ReaderOptions {
  /** What an error in the stream means. */
  explain(error: unknown): Outcome;
  /** After so many calls of the model the stream ends, finished or not. */
  maxSteps: number;
  readMetadata?: ModelEndpoint["readMetadata"];
}

/** Makes the reader of one task's stream. */
export function createPartReader({ explain, maxSteps, readMetadata = () => [] }: ReaderOptions): PartReader {
  const usages: Parameters<typeof sumUsage>[0][number][] = [];
  let steps = 0;
  let unseen = 0;
  /** Calls without a result; only of what nobody here works does one stay. */
  const open = new Map<string, OpenCall>();

  /** What nobody sees of a model's work is told by its length, now and then. */
  const quietly = (what: string, text: string): Step[] => {
    unseen += text.length;
    if (unseen < QUIET_LENGTH) return [];
    unseen = 0;
    return [{ kind: "progress", data: { doing: what } }];
  };

  const read: PartReader["read"] = (part) => {
    switch (part.type) {
      case "text-delta":
        return [{ kind: "text", text: part.text }];
      case "reasoning-start":
        return [{ kind: "progress", data: { doing: "reasoning" } }];
      case "reasoning-delta":
        return quietly("reasoning", part.text);
      case "tool-input-start":
        return [{ kind: "progress", data: { doing: "tool input", toolName: part.toolName } }];
      case "tool-input-delta":
        return quietly("tool input", part.delta);
      case "tool-call":
        open.set(part.toolCallId, { toolCallId: part.toolCallId, toolName: part.toolName, input: part.input });
        return [{ kind: "tool.invoked", toolCallId: part.toolCallId, toolName: part.toolName, input: part.input }];
      case "tool-result":
        open.delete(part.toolCallId);
        return [completed(part, part.output, isErrorOutput(part.output))];
      case "tool-error":
        open.delete(part.toolCallId);
        return [completed(part, wordsOf(part.error), true)];
      case "finish-step": {
        steps += 1;
        usages.push(usageOf(part.usage));
        return [
          { kind: "facts", facts: { model: part.response.modelId } },
          ...readMetadata(part.providerMetadata),
          { kind: "progress", data: { step: steps, finishReason: part.finishReason } },
        ];
      }
      case "finish": {
        const ending = verdictOf(part, { isLastStep: steps >= maxSteps, isOpen: open.size > 0 });
        const awaited: Step[] = open.size === 0 ? [] : [{ kind: "facts", facts: { outputs: { toolCalls: [...open.values()] } } }];
        return ending.status === "ok" ? [...awaited, { kind: "ended", outcome: ending }] : [{ kind: "ended", outcome: ending }];
      }
      case "error":
        return [{ kind: "ended", outcome: explain(part.error) }];
      case "abort":
        return [{ kind: "ended", outcome: { status: "error", errorCode: "cancelled", error: "The task was cancelled." } }];
      default:
        return [];
    }
  };
  return {
    read,
    get usage() {
      return sumUsage(usages);
    },
  };
}

function completed({ toolCallId, toolName }: { toolCallId: string; toolName: string }, output: unknown, isError: boolean): Step {
  return { kind: "tool.completed", toolCallId, toolName, output, isError };
}

/** An MCP server says of its own output that it is an error. */
const isErrorOutput = (output: unknown): boolean =>
  typeof output === "object" && output !== null && "isError" in output && output.isError === true;

const wordsOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** Why a model has stopped decides; what it stopped for without a known reason is an answer only when it gave one. */
function verdictOf(
  { finishReason, rawFinishReason }: Extract<TextStreamPart<ToolSet>, { type: "finish" }>,
  { isLastStep, isOpen }: { isLastStep: boolean; isOpen: boolean },
): Outcome {
  const failed = (errorCode: NonNullable<Outcome["errorCode"]>, error: string): Outcome => ({ status: "error", errorCode, error });
  switch (finishReason) {
    case "stop":
      return { status: "ok" };
    case "tool-calls":
      if (isOpen) return { status: "ok" };
      if (isLastStep) return failed("max_turns", "The task has used up the calls of the model that one task has (BRIDGE_MODEL_MAX_STEPS).");
      return failed("model_error", "The model's answer ended for tool calls, of which there is none.");
    case "length":
      return failed("output_limit", "The answer has reached the longest that the model gives, and is cut off.");
    case "content-filter":
      return failed("model_error", "The content filter of the model has stopped the answer.");
    case "error":
      return failed("model_error", "The model's endpoint ended the answer with an error.");
    default:
      if (rawFinishReason !== undefined) return { status: "ok" };
      return failed("model_error", "The model's answer ended without a reason: it may not be complete.");
  }
}
