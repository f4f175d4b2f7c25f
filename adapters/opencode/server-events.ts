import { z } from "zod";
import { jsonObjectSchema } from "#contract";
import type { Outcome } from "../shared/agent-program/run-program.ts";
import { errorSchema, explainError, explainFinish, explainRetries, explainWait, type ReportedError } from "./failures.ts";
import { createIncompleteAnswerCounter } from "./incomplete-answers.ts";
import { createCallReader, permissionSchema, type ServerStep } from "./server-calls.ts";
import { toolPartSchema } from "./tool-calls.ts";
import { stepFinishSchema, type Tally } from "./usage.ts";

/** Failed model calls in a row after which the task fails. */
const MAX_FAILED_CALLS = 4;
/** How long OpenCode may wait before a call. It would wait for hours if the provider names such a time. */
const MAX_WAIT_MS = 60_000;

const SESSION_FIELDS = { sessionID: z.string() };
const partSchema = z.discriminatedUnion("type", [
  z.object({ ...SESSION_FIELDS, type: z.literal("text"), id: z.string(), messageID: z.string(), text: z.string() }),
  toolPartSchema.extend(SESSION_FIELDS),
  stepFinishSchema.extend(SESSION_FIELDS),
]);
const messageSchema = z.object({
  ...SESSION_FIELDS,
  id: z.string(),
  role: z.string(),
  providerID: z.string().optional(),
  modelID: z.string().optional(),
  finish: z.string().optional(),
  structured: jsonObjectSchema.optional(),
  error: errorSchema.optional(),
  /** Set for a summary that OpenCode writes for itself; its text is not part of the answer. */
  summary: z.unknown().optional(),
});
/** `next` is the time of the next attempt, in ms since the epoch. */
const statusSchema = z.object({
  type: z.string(),
  attempt: z.number().optional(),
  message: z.string().optional(),
  next: z.number().optional(),
});

const eventSchema = z.discriminatedUnion("type", [
  z.object({ type: z.literal("message.updated"), properties: z.object({ info: messageSchema }) }),
  z.object({ type: z.literal("message.part.updated"), properties: z.object({ part: partSchema }) }),
  z.object({
    type: z.literal("message.part.delta"),
    properties: z.object({ ...SESSION_FIELDS, partID: z.string(), field: z.string(), delta: z.string() }),
  }),
  z.object({ type: z.literal("session.status"), properties: z.object({ ...SESSION_FIELDS, status: statusSchema }) }),
  z.object({ type: z.literal("session.error"), properties: z.object({ sessionID: z.string().optional(), error: errorSchema }) }),
  z.object({ type: z.literal("session.idle"), properties: z.object(SESSION_FIELDS) }),
  z.object({ type: z.literal("permission.asked"), properties: permissionSchema.extend(SESSION_FIELDS) }),
]);

/** Reads one event at a time. It has no side effects except on its own state. */
export type ServerReader = (event: unknown) => readonly ServerStep[];

/** Creates the reader for the events of a server. `sessionId` is the task's session; sub-agents have other sessions. */
export function createServerReader(sessionId: string, tally: Tally): ServerReader {
  const calls = createCallReader(sessionId);
  const countIncomplete = createIncompleteAnswerCounter();
  /** Ids of messages whose text is part of the answer. */
  const answerIds = new Set<string>();
  /** Text emitted so far, by the id of its part. */
  const emittedTexts = new Map<string, string>();
  let error: ReportedError | null = null;
  let finish: string | null = null;
  let hasStructuredOutput = false;

  /** Returns the part of a text that was not emitted yet. */
  const readText = (id: string, text: string): ServerStep[] => {
    const before = emittedTexts.get(id) ?? "";
    if (!text.startsWith(before)) return [];
    emittedTexts.set(id, text);
    return text === before ? [] : [{ kind: "text", text: text.slice(before.length) }];
  };

  const readMessage = (info: z.infer<typeof messageSchema>): ServerStep[] => {
    if (info.role !== "assistant") return [];
    finish = info.finish ?? null;
    error = info.error ?? error;
    if (info.summary !== true) answerIds.add(info.id);
    const isNamed = info.providerID !== undefined && info.modelID !== undefined;
    const model: ServerStep[] = isNamed ? [{ kind: "facts", facts: { model: `${info.providerID}/${info.modelID}` } }] : [];
    if (info.structured === undefined) return model;
    hasStructuredOutput = true;
    return [...model, { kind: "facts", facts: { outputs: info.structured } }];
  };

  const readPart = (part: z.infer<typeof partSchema>): ServerStep[] => {
    if (part.type === "step-finish") {
      tally.add(part);
      const steps = countIncomplete(part.reason);
      // Text of sub-agents is not part of the answer.
      return part.sessionID === sessionId ? steps : steps.filter(({ kind }) => kind === "ended");
    }
    if (part.type === "tool") return calls.readCall(part);
    return part.sessionID === sessionId && answerIds.has(part.messageID) ? readText(part.id, part.text) : [];
  };

  return (json) => {
    const event = eventSchema.safeParse(json).data;
    if (event === undefined) return [];
    if (event.type === "permission.asked") return calls.readPermission(event.properties);
    if (event.type === "message.part.updated") return readPart(event.properties.part);
    if (event.type === "message.updated") return event.properties.info.sessionID === sessionId ? readMessage(event.properties.info) : [];
    if (event.properties.sessionID !== sessionId) return [];
    if (event.type === "message.part.delta") {
      const { partID, field, delta } = event.properties;
      const before = emittedTexts.get(partID);
      if (field !== "text" || before === undefined) return [];
      // A long text has many deltas, so they are appended without a comparison with the earlier text.
      emittedTexts.set(partID, before + delta);
      return [{ kind: "text", text: delta }];
    }
    if (event.type === "session.status") return readStatus(event.properties.status);
    if (event.type === "session.idle")
      return [{ kind: "ended", outcome: hasStructuredOutput ? { status: "ok" } : decideOutcome(error, finish) }];
    error ??= event.properties.error;
    return [];
  };
}

/** Chooses the outcome of an idle session. Missing structured output is not an error here, because Bridge also parses the answer's text. */
function decideOutcome(error: ReportedError | null, finish: string | null): Outcome {
  return error === null || error.name === "StructuredOutputError" ? explainFinish(finish) : explainError(error);
}

function readStatus({ type, attempt = 0, message = "", next = 0 }: z.infer<typeof statusSchema>): ServerStep[] {
  if (type !== "retry") return [];
  const retry: ServerStep[] = [
    { kind: "discarded", reason: message },
    { kind: "progress", data: { retry: attempt, message } },
  ];
  if (next - Date.now() > MAX_WAIT_MS) return [...retry, { kind: "ended", outcome: explainWait(next, message) }];
  return attempt < MAX_FAILED_CALLS ? retry : [...retry, { kind: "ended", outcome: explainRetries(attempt, message) }];
}
