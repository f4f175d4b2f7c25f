import { z } from "zod";
import type { Step } from "../shared/agent-program/run-program.ts";
import type { GatewayEvent } from "./gateway-socket.ts";
import { explainWait } from "./run-result.ts";

const text = z.string();
/** A longer delay is not that of a limit, and has no valid date. */
const MAX_DELAY_MS = 31 * 86_400_000;
const agentEventSchema = z.object({ event: z.literal("agent"), payload: z.object({ runId: text, stream: text, data: z.unknown() }) });
const streams = {
  lifecycle: z.object({
    phase: text,
    provider: text.nullish(),
    model: text.nullish(),
    error: text.optional(),
    errorObservation: z.object({ failoverReason: text.optional() }).optional(),
  }),
  assistant: z.object({ text, itemId: text.default(""), replace: z.boolean().default(false) }),
  tool: z.discriminatedUnion("phase", [
    z.object({ phase: z.literal("start"), name: text, toolCallId: text, args: z.unknown() }),
    z.object({ phase: z.literal("result"), name: text, toolCallId: text, isError: z.boolean().default(false), result: z.unknown() }),
  ]),
  item: z.discriminatedUnion("kind", [
    z.object({ kind: z.literal("preamble"), phase: text, progressText: text.default("") }),
    z.object({ kind: z.literal("tool"), phase: text, name: text, toolCallId: text, title: text.optional(), status: text.optional() }),
  ]),
  run_status: z.object({
    phase: z.literal("retrying"),
    retryAttempt: z.number(),
    delayMs: z.number().nonnegative().max(MAX_DELAY_MS),
    reason: text,
  }),
  command_output: z.object({ phase: text, toolCallId: text, output: text.optional() }),
} as const;
/** How long the gateway may wait before it calls the model again. It waits for hours if the vendor names such a time. */
const MAX_WAIT_MS = 60_000;
const resultSchema = z.object({ content: z.array(z.object({ type: z.literal("text"), text })).min(1) });

/** Converts the gateway's events about the runs of one task to timeline steps. */
export interface EventReader {
  /** Returns the steps that an event adds to the task's timeline; empty for unrelated events. */
  read(event: GatewayEvent): readonly Step[];
  /**
   * Makes the reader read tool calls from `item` events. Call this after a reconnect, because the gateway sends `tool` events only to the
   * connection that started the run.
   */
  readItems(): void;
  /** The gateway's reason code for a failed model call; null if it reported none. */
  readonly failoverReason: string | null;
}

/** Creates the event reader of a task; `isOurs` returns whether a run belongs to the task. */
export function createEventReader(isOurs: (runId: string) => boolean): EventReader {
  const emittedLengths = new Map<string, number>();
  let itemId: string | null = null;
  let hasEmittedText = false;
  let readsItems = false;
  let failoverReason: string | null = null;

  const createTextSteps = (chunk: string): Step[] => {
    if (chunk === "") return [];
    hasEmittedText = true;
    return [{ kind: "text", text: chunk }];
  };

  const readers: { [S in keyof typeof streams]: (data: z.infer<(typeof streams)[S]>) => Step[] } = {
    lifecycle({ phase, provider, model, errorObservation }) {
      failoverReason = errorObservation?.failoverReason ?? failoverReason;
      if (phase === "model" && provider && model) return [{ kind: "facts", facts: { model: `${provider}/${model}` } }];
      return phase === "waiting-approval" ? [{ kind: "progress", data: { phase } }] : [];
    },
    // `text` is the whole text of the item so far, so the next event also contains the text that was missed during a disconnect.
    assistant(data) {
      const before = emittedLengths.get(data.itemId) ?? 0;
      emittedLengths.set(data.itemId, data.text.length);
      // The gateway has repeated the model call.
      if (data.replace)
        return [{ kind: "discarded", reason: "OpenClaw replaced the text of an incomplete answer." }, ...createTextSteps(data.text)];
      // The start of another item means that the current one is complete.
      const isNext = itemId !== null && data.itemId !== itemId;
      itemId = data.itemId;
      return [...(isNext ? [{ kind: "kept" } as const] : []), ...createTextSteps(data.text.slice(before))];
    },
    tool(data) {
      const { toolCallId, name: toolName } = data;
      hasEmittedText = false;
      if (data.phase === "start") return [{ kind: "tool.invoked", toolCallId, toolName, input: data.args }];
      return [{ kind: "tool.completed", toolCallId, toolName, output: outputOf(data.result), isError: data.isError }];
    },
    item(data) {
      // With some models, the text before a tool call is sent only as a preamble item.
      if (data.kind === "preamble") return data.phase === "end" && !hasEmittedText ? createTextSteps(data.progressText) : [];
      if (!readsItems) return [];
      const { toolCallId, name: toolName, title = null, status } = data;
      hasEmittedText = false;
      if (data.phase === "start") return [{ kind: "tool.invoked", toolCallId, toolName, input: { title } }];
      if (data.phase !== "end") return [];
      return [{ kind: "tool.completed", toolCallId, toolName, output: title, isError: status !== "completed" }];
    },
    run_status: ({ retryAttempt, delayMs, reason }) => [
      { kind: "progress", data: { retry: retryAttempt, reason } },
      ...(delayMs > MAX_WAIT_MS ? [{ kind: "ended", outcome: explainWait(Date.now() + delayMs, reason) } as const] : []),
    ],
    command_output: ({ phase, toolCallId, output = "" }) =>
      phase === "delta" && output !== "" ? [{ kind: "progress", data: { tool: toolCallId, output } }] : [],
  };

  return {
    read(event) {
      const { stream, runId, data } = agentEventSchema.safeParse(event).data?.payload ?? {};
      if (stream === undefined || runId === undefined || !isOurs(runId) || !isStream(stream)) return [];
      const parsed = streams[stream].safeParse(data);
      // Ignore event data that only newer gateways send.
      return parsed.success ? (readers[stream] as (data: unknown) => Step[])(parsed.data) : [];
    },
    readItems() {
      readsItems = true;
    },
    get failoverReason() {
      return failoverReason;
    },
  };
}

const isStream = (name: string): name is keyof typeof streams => Object.hasOwn(streams, name);

/** Joins the text parts of a tool's result; returns any other result unchanged. */
function outputOf(result: unknown): unknown {
  const parts = resultSchema.safeParse(result).data?.content;
  return parts === undefined ? result : parts.map((part) => part.text).join("\n");
}
