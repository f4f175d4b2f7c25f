import { z } from "zod";
import type { Step } from "../shared/agent-program/run-program.ts";
import type { GatewayEvent } from "./gateway-socket.ts";

const text = z.string();
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
  command_output: z.object({ phase: text, toolCallId: text, output: text.optional() }),
} as const;
const resultSchema = z.object({ content: z.array(z.object({ type: z.literal("text"), text })).min(1) });

/** Reads what a gateway tells of the runs of one task. */
export interface EventReader {
  /** What an event means for the task; nothing when it is about something else. */
  read(event: GatewayEvent): readonly Step[];
  /** From now on the gateway no longer tells of tools, but of items that stand for them: we are not the connection that started the run. */
  rejoin(): void;
  /** Why a call of the model failed, in the gateway's own word; null when it has not told. */
  readonly failoverReason: string | null;
}

/** Makes the reader of a task; `isOurs` tells which runs are the task's. */
export function createEventReader(isOurs: (runId: string) => boolean): EventReader {
  const emittedLengths = new Map<string, number>();
  let itemId: string | null = null;
  let hasEmittedText = false;
  let isRejoined = false;
  let failoverReason: string | null = null;

  const textStep = (words: string): Step[] => {
    if (words === "") return [];
    hasEmittedText = true;
    return [{ kind: "text", text: words }];
  };

  const readers: { [S in keyof typeof streams]: (data: z.infer<(typeof streams)[S]>) => Step[] } = {
    lifecycle({ phase, provider, model, errorObservation }) {
      failoverReason = errorObservation?.failoverReason ?? failoverReason;
      if (phase === "model" && provider && model) return [{ kind: "facts", facts: { model: `${provider}/${model}` } }];
      return phase === "waiting-approval" ? [{ kind: "progress", data: { phase } }] : [];
    },
    // The text is all that the item has said so far: what a broken connection has swallowed comes with the next event.
    assistant(data) {
      const before = emittedLengths.get(data.itemId) ?? 0;
      emittedLengths.set(data.itemId, data.text.length);
      // The model is asked again.
      if (data.replace) return [{ kind: "discarded", reason: "OpenClaw replaces the text of a broken answer." }, ...textStep(data.text)];
      // An item that another one follows was whole.
      const isNext = itemId !== null && data.itemId !== itemId;
      itemId = data.itemId;
      return [...(isNext ? [{ kind: "kept" } as const] : []), ...textStep(data.text.slice(before))];
    },
    tool(data) {
      const { toolCallId, name: toolName } = data;
      hasEmittedText = false;
      if (data.phase === "start") return [{ kind: "tool.invoked", toolCallId, toolName, input: data.args }];
      return [{ kind: "tool.completed", toolCallId, toolName, output: outputOf(data.result), isError: data.isError }];
    },
    item(data) {
      // Some models' words before a tool come as nothing else.
      if (data.kind === "preamble") return data.phase === "end" && !hasEmittedText ? textStep(data.progressText) : [];
      if (!isRejoined) return [];
      const { toolCallId, name: toolName, title = null, status } = data;
      hasEmittedText = false;
      if (data.phase === "start") return [{ kind: "tool.invoked", toolCallId, toolName, input: { title } }];
      if (data.phase !== "end") return [];
      return [{ kind: "tool.completed", toolCallId, toolName, output: title, isError: status !== "completed" }];
    },
    command_output: ({ phase, toolCallId, output = "" }) =>
      phase === "delta" && output !== "" ? [{ kind: "progress", data: { tool: toolCallId, output } }] : [],
  };

  return {
    read(event) {
      const { stream, runId, data } = agentEventSchema.safeParse(event).data?.payload ?? {};
      if (stream === undefined || runId === undefined || !isOurs(runId) || !isStream(stream)) return [];
      const parsed = streams[stream].safeParse(data);
      // What newer gateways tell beside is not for us.
      return parsed.success ? (readers[stream] as (given: unknown) => Step[])(parsed.data) : [];
    },
    rejoin() {
      isRejoined = true;
    },
    get failoverReason() {
      return failoverReason;
    },
  };
}

const isStream = (name: string): name is keyof typeof streams => Object.hasOwn(streams, name);

/** What a tool has to say is a text, mostly. */
function outputOf(result: unknown): unknown {
  const parts = resultSchema.safeParse(result).data?.content;
  return parts === undefined ? result : parts.map((part) => part.text).join("\n");
}
