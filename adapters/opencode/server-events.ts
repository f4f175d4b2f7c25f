import { z } from "zod";
import type { ApprovalQuestion } from "#contract";
import type { Step, Verdict } from "../shared/agent-program/run-program.ts";
import { errorSchema, explainError, explainFinish, explainRetries, type ReportedError } from "./failures.ts";
import { createBrokenCalls } from "./incomplete-answers.ts";
import { formTool } from "./permissions.ts";
import { readTool, toolPartSchema } from "./tool-calls.ts";
import { stepFinishSchema, type Tally } from "./usage.ts";

/** After so many failed calls in a row the task is given up. */
const MAX_FAILED_CALLS = 4;

const inSession = { sessionID: z.string() };
const partSchema = z.discriminatedUnion("type", [
  z.object({ ...inSession, type: z.literal("text"), id: z.string(), messageID: z.string(), text: z.string() }),
  toolPartSchema.extend(inSession),
  stepFinishSchema.extend(inSession),
]);
const messageSchema = z.object({
  ...inSession,
  id: z.string(),
  role: z.string(),
  providerID: z.string().optional(),
  modelID: z.string().optional(),
  finish: z.string().optional(),
  structured: z.record(z.string(), z.unknown()).optional(),
  error: errorSchema.optional(),
  /** The text of a summary is the program's note to itself. */
  summary: z.unknown().optional(),
});
const statusSchema = z.object({ type: z.string(), attempt: z.number().optional(), message: z.string().optional() });

const eventSchema = z.discriminatedUnion("type", [
  z.object({ type: z.literal("message.updated"), properties: z.object({ info: messageSchema }) }),
  z.object({ type: z.literal("message.part.updated"), properties: z.object({ part: partSchema }) }),
  z.object({
    type: z.literal("message.part.delta"),
    properties: z.object({ ...inSession, partID: z.string(), field: z.string(), delta: z.string() }),
  }),
  z.object({ type: z.literal("session.status"), properties: z.object({ ...inSession, status: statusSchema }) }),
  z.object({ type: z.literal("session.error"), properties: z.object({ sessionID: z.string().optional(), error: errorSchema }) }),
  z.object({ type: z.literal("session.idle"), properties: z.object(inSession) }),
  z.object({
    type: z.literal("permission.asked"),
    properties: z.object({
      ...inSession,
      id: z.string(),
      permission: z.string(),
      metadata: z.record(z.string(), z.unknown()).default({}),
      tool: z.object({ callID: z.string() }).optional(),
    }),
  }),
]);
type Asked = Extract<z.infer<typeof eventSchema>, { type: "permission.asked" }>["properties"];

/** What an event of the server means: `asked` waits for an answer; how a call ends that is no tool's own nobody tells (`isTold`). */
export type ServerStep =
  | Step
  | {
      kind: "asked";
      sessionId: string;
      permissionId: string;
      permission: string;
      call: Omit<ApprovalQuestion, "taskId">;
      isTold: boolean;
    };
/** Reads one event at a time; keeps what it must remember between events. Pure but for that memory. */
export type ServerReader = (event: unknown) => readonly ServerStep[];

/** Begins to read the events of the one session that a server works on; its sub-agents have sessions beside it. */
export function createServerReader(sessionId: string, tally: Tally): ServerReader {
  const brokenCalls = createBrokenCalls();
  const answers = new Set<string>();
  const told = new Map<string, string>();
  /** Calls of sub-agents too, as far as they are known; those that were asked about; and questions that came before their call's input. */
  const calls = new Map<string, Pick<ApprovalQuestion, "toolName" | "input"> | "pending">();
  const asked = new Set<string>();
  const early = new Map<string, Asked>();
  let error: ReportedError | null = null;
  let finish: string | null = null;
  let structured = false;

  /** What has not been told of a text yet. */
  const tellText = (id: string, text: string): ServerStep[] => {
    const before = told.get(id) ?? "";
    if (!text.startsWith(before)) return [];
    told.set(id, text);
    return text === before ? [] : [{ kind: "text", text: text.slice(before.length) }];
  };

  const readMessage = (info: z.infer<typeof messageSchema>): ServerStep[] => {
    if (info.role !== "assistant") return [];
    finish = info.finish ?? null;
    error = info.error ?? error;
    if (info.summary !== true) answers.add(info.id);
    const isNamed = info.providerID !== undefined && info.modelID !== undefined;
    const model: ServerStep[] = isNamed ? [{ kind: "known", facts: { model: `${info.providerID}/${info.modelID}` } }] : [];
    if (info.structured === undefined) return model;
    structured = true;
    return [...model, { kind: "known", facts: { outputs: info.structured } }];
  };

  const readPart = (part: z.infer<typeof partSchema>): ServerStep[] => {
    if (part.type === "step-finish") {
      tally.add(part);
      const steps = brokenCalls(part.reason);
      // The text of sub-agents is not part of the answer.
      return part.sessionID === sessionId ? steps : steps.filter(({ kind }) => kind === "ended");
    }
    if (part.type === "tool") return readCall(part);
    return part.sessionID === sessionId && answers.has(part.messageID) ? tellText(part.id, part.text) : [];
  };

  const readCall = (part: Extract<z.infer<typeof partSchema>, { type: "tool" }>): ServerStep[] => {
    const { callID, tool, state } = part;
    // The answer in its wanted form is no work of a tool.
    if (tool === formTool) return [];
    if (state.status === "running") calls.set(callID, { toolName: tool, input: state.input });
    else if (state.status === "pending") calls.set(callID, "pending");
    else calls.delete(callID);
    const question = early.get(callID);
    if (question !== undefined && state.status === "running") {
      early.delete(callID);
      return readQuestion(question);
    }
    // Of a sub-agent's calls those are told that somebody is asked about.
    return part.sessionID === sessionId || asked.has(callID) ? readTool(part) : [];
  };

  const readQuestion = (question: Asked): ServerStep[] => {
    const { id, sessionID, permission, metadata, tool } = question;
    const toolCallId = tool?.callID ?? id;
    const known = calls.get(toolCallId) ?? { toolName: permission, input: metadata };
    asked.add(toolCallId);
    if (known === "pending") {
      early.set(toolCallId, question);
      return [];
    }
    const call = { toolCallId, ...known };
    return [
      { kind: "tool.invoked", ...call },
      { kind: "asked", sessionId: sessionID, permissionId: id, permission, call, isTold: tool !== undefined },
    ];
  };

  return (json) => {
    const event = eventSchema.safeParse(json).data;
    if (event === undefined) return [];
    if (event.type === "permission.asked") return readQuestion(event.properties);
    if (event.type === "message.part.updated") return readPart(event.properties.part);
    if (event.type === "message.updated") return event.properties.info.sessionID === sessionId ? readMessage(event.properties.info) : [];
    if (event.properties.sessionID !== sessionId) return [];
    if (event.type === "message.part.delta") {
      const { partID, field, delta } = event.properties;
      const before = told.get(partID);
      if (field !== "text" || before === undefined) return [];
      // Not compared with what was told before: there are as many of these as a long text has words.
      told.set(partID, before + delta);
      return [{ kind: "text", text: delta }];
    }
    if (event.type === "session.status") return readStatus(event.properties.status);
    if (event.type === "session.idle") return [{ kind: "ended", ending: structured ? { status: "ok" } : judge(error, finish) }];
    error ??= event.properties.error;
    return [];
  };
}

/** How a session ended that has come to rest. An answer without its wanted form is left to whoever wants the form. */
function judge(error: ReportedError | null, finish: string | null): Verdict {
  return error === null || error.name === "StructuredOutputError" ? explainFinish(finish) : explainError(error);
}

function readStatus({ type, attempt = 0, message = "" }: z.infer<typeof statusSchema>): ServerStep[] {
  if (type !== "retry") return [];
  const again: ServerStep[] = [
    { kind: "discarded", reason: message },
    { kind: "progress", data: { retry: attempt, message } },
  ];
  return attempt < MAX_FAILED_CALLS ? again : [...again, { kind: "ended", ending: explainRetries(attempt, message) }];
}
