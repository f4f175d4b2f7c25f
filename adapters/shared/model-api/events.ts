import type { TextStreamPart, ToolSet } from "ai";
import type { NormalizedUsage } from "#contract";
import type { Outcome, Step } from "../agent-program/run-program.ts";
import type { OpenCall } from "../declared-tools/open-calls.ts";
import { failure } from "../process/failure.ts";
import type { ModelEndpoint } from "./model-endpoint.ts";
import { createThoughtFilter } from "./thoughts.ts";
import { sumUsage, usageOf } from "./usage.ts";

/** Characters of reasoning or tool input between two progress events. */
const PROGRESS_INTERVAL = 4_096;

/** Options of a reader. */
export interface ReaderOptions {
  /** Converts an error in the stream into an outcome. */
  explain(error: unknown): Outcome;
  /** Maximum number of model calls, after which the stream ends. */
  maxSteps: number;
  requestedModel: string;
  readMetadata?: ModelEndpoint["readMetadata"];
}

/** Creates a reader that converts the parts of one task's stream into steps. */
export function createPartReader({ explain, maxSteps, requestedModel, readMetadata = () => [] }: ReaderOptions) {
  const usages: Parameters<typeof sumUsage>[0][number][] = [];
  let steps = 0;
  let callStart = { at: Date.now(), ms: performance.now() };
  let unreportedLength = 0;
  let thoughts = createThoughtFilter();
  /** Calls without a result. At the end, these are the calls of declared tools. */
  const open = new Map<string, OpenCall>();

  /** Reports progress during long reasoning or tool input, which is not streamed. */
  const reportActivity = (doing: string, text: string): Step[] => {
    unreportedLength += text.length;
    if (unreportedLength < PROGRESS_INTERVAL) return [];
    unreportedLength = 0;
    return [{ kind: "progress", data: { doing } }];
  };

  const read = (part: TextStreamPart<ToolSet>): readonly Step[] => {
    switch (part.type) {
      case "start-step":
        thoughts = createThoughtFilter();
        callStart = { at: Date.now(), ms: performance.now() };
        return [];
      case "text-delta":
        return thoughts.read(part.text);
      case "text-end":
        return thoughts.finish();
      case "reasoning-start":
        return [{ kind: "progress", data: { doing: "reasoning" } }];
      case "reasoning-delta":
        return reportActivity("reasoning", part.text);
      case "tool-input-start":
        return [{ kind: "progress", data: { doing: "tool input", toolName: part.toolName } }];
      case "tool-input-delta":
        return reportActivity("tool input", part.delta);
      case "tool-call":
        open.set(part.toolCallId, { toolCallId: part.toolCallId, toolName: part.toolName, input: part.input });
        return [{ kind: "tool.invoked", toolCallId: part.toolCallId, toolName: part.toolName, input: part.input }];
      case "tool-result":
        open.delete(part.toolCallId);
        return [createCompletedStep(part, part.output, isErrorOutput(part.output))];
      case "tool-error":
        open.delete(part.toolCallId);
        return [createCompletedStep(part, messageOf(part.error), true)];
      case "finish-step": {
        steps += 1;
        const usage = usageOf(part.usage);
        usages.push(usage);
        const metadata = readMetadata(part.providerMetadata);
        // An endpoint that chooses the model reports it there.
        const routed = metadata.find((step) => step.kind === "facts" && step.facts.model !== undefined);
        const model = routed?.kind === "facts" ? (routed.facts.model as string) : part.response.modelId;
        const call = { startedAt: callStart.at, durationMs: Math.round(performance.now() - callStart.ms), status: 200 };
        const tokens = usage === undefined ? { usage: { inputTokens: 0, outputTokens: 0 }, partial: true } : { usage };
        return [
          { kind: "usage", data: { model, ...(model !== requestedModel && { requestedModel }), ...tokens, call } },
          { kind: "facts", facts: { model } },
          ...metadata,
          { kind: "progress", data: { step: steps, finishReason: part.finishReason } },
        ];
      }
      case "finish": {
        const outcome = outcomeOf(part, { isLastStep: steps >= maxSteps, isOpen: open.size > 0, endsInThoughts: thoughts.isOpen() });
        const openCalls: Step[] = open.size === 0 ? [] : [{ kind: "facts", facts: { outputs: { toolCalls: [...open.values()] } } }];
        return outcome.status === "ok" ? [...openCalls, { kind: "ended", outcome }] : [{ kind: "ended", outcome }];
      }
      case "error":
        return [{ kind: "ended", outcome: explain(part.error) }];
      case "abort":
        return [{ kind: "ended", outcome: failure("cancelled", "The task was canceled.") }];
      default:
        return [];
    }
  };
  return {
    read,
    /** The usage of all finished model calls; undefined if one is unknown. */
    get usage(): NormalizedUsage | undefined {
      return sumUsage(usages);
    },
  };
}

function createCompletedStep({ toolCallId, toolName }: { toolCallId: string; toolName: string }, output: unknown, isError: boolean): Step {
  return { kind: "tool.completed", toolCallId, toolName, output, isError };
}

/** Returns whether an MCP server marked its result as an error. */
const isErrorOutput = (output: unknown): boolean =>
  typeof output === "object" && output !== null && "isError" in output && output.isError === true;

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** Returns the outcome for a finish reason. An unknown reason counts as a success, a missing one as a failure. */
function outcomeOf(
  { finishReason, rawFinishReason }: Extract<TextStreamPart<ToolSet>, { type: "finish" }>,
  { isLastStep, isOpen, endsInThoughts }: { isLastStep: boolean; isOpen: boolean; endsInThoughts: boolean },
): Outcome {
  switch (finishReason) {
    case "stop":
      if (!endsInThoughts) return { status: "ok" };
      return failure("model_error", "The model's answer has only thoughts: its text begins with <think> and has no </think>.");
    case "tool-calls":
      if (isOpen) return { status: "ok" };
      if (isLastStep) return failure("max_turns", "The task reached the maximum number of model calls per task (BRIDGE_MODEL_MAX_STEPS).");
      return failure("model_error", "The model stopped for tool calls, but its answer has none.");
    case "length":
      return failure("output_limit", "The answer reached the model's maximum length and is cut off.");
    case "content-filter":
      return failure("model_error", "The model's content filter stopped the answer.");
    case "error":
      return failure("model_error", "The model's endpoint ended the answer with an error.");
    default:
      if (rawFinishReason !== undefined) return { status: "ok" };
      return failure("model_error", "The model's answer ended without a finish reason, so it may be incomplete.");
  }
}
