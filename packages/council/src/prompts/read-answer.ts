import { taskTypeProperties } from "../profile.ts";
import {
  type Confidence,
  type CrossDomainSignal,
  confidences,
  type OutputType,
  outputTypes,
  type Severity,
  severities,
  type TaskType,
} from "../types.ts";
import { findJsonObjects, isJsonObject } from "./find-json.ts";

/** An output as a role reports it. The debate assigns the role and the id. */
export interface AnsweredOutput {
  /** Id in the answer; null for none. */
  ref: string | null;
  type: OutputType;
  severity: Severity | null;
  title: string;
  description: string;
  evidence: string | null;
  action: string | null;
  /** Decision about an earlier output; only the judge of a debate can use `disputed`. */
  decision: "confirmed" | "revised" | "withdrawn" | "disputed" | null;
}

/** A challenge as the Challenger reports it. */
export interface AnsweredChallenge {
  /** The id of an earlier challenge; null for a new one. */
  ref: string | null;
  targetId: string;
  text: string;
  decision: "raised" | "escalated" | "withdrawn";
}

/** The valid parts of an answer. */
export interface Answer {
  outputs: AnsweredOutput[];
  challenges: AnsweredChallenge[];
  signals: CrossDomainSignal[];
  summary: string | null;
  confidence: Confidence | null;
  /** Notes about omitted or changed parts. */
  notes: string[];
}

/** Limits of an answer, because people read the report. */
const LIMITS = { outputs: 100, challenges: 50, signals: 20, title: 300, summary: 1_000, text: 8_000 } as const;

/** Parses the answer of a role: JSON in a fenced block or in prose. Null if no object looks like an answer. */
export function readAnswer(text: string, taskType: TaskType): Answer | null {
  for (const object of findJsonObjects(text)) {
    if (["outputs", "challenges", "cross_domain_signals"].some((field) => Array.isArray(object[field])))
      return readObject(object, taskType);
  }
  return null;
}

function readObject(object: Record<string, unknown>, taskType: TaskType): Answer {
  const notes: string[] = [];
  const listOf = (field: string, limit: number): Record<string, unknown>[] => {
    const items = Array.isArray(object[field]) ? object[field].filter(isJsonObject) : [];
    if (items.length > limit)
      notes.push(`${items.length - limit} of ${items.length} ${field} were left out: the limit for one answer is ${limit}.`);
    return items.slice(0, limit);
  };
  const confidence = textOf(object["confidence"], 20)?.toLowerCase();
  return {
    outputs: listOf("outputs", LIMITS.outputs).flatMap((item) => readOutput(item, taskType, notes) ?? []),
    challenges: listOf("challenges", LIMITS.challenges).flatMap((item) => readChallenge(item, notes) ?? []),
    signals: listOf("cross_domain_signals", LIMITS.signals).flatMap((item) => readSignal(item) ?? []),
    summary: textOf(object["summary"], LIMITS.summary),
    confidence: confidences.find((known) => known === confidence) ?? null,
    notes,
  };
}

function readOutput(item: Record<string, unknown>, taskType: TaskType, notes: string[]): AnsweredOutput | null {
  const ref = textOf(item["id"], 40);
  const status = matchWord(["confirmed", "revised", "downgraded", "withdrawn", "disputed"] as const, item["status"]);
  const decision = status === "downgraded" ? "revised" : status;
  // A decision about an existing output needs no text.
  const isDecision = ref !== null && decision !== null;
  const description = textOf(item["description"], LIMITS.text);
  const title = textOf(item["title"], LIMITS.title) ?? (isDecision ? null : (description?.slice(0, 80).toWellFormed() ?? null));
  if (title === null && !isDecision) {
    notes.push("An output without a title and a description was left out.");
    return null;
  }
  const type = readType(item["type"], taskType);
  return {
    ref,
    type,
    severity: readSeverity(item["severity"], type, isDecision ? null : notes, title),
    title: title ?? "",
    description: description ?? (isDecision ? "" : (title ?? "")),
    evidence: textOf(item["evidence"], LIMITS.text),
    action: textOf(item["action"], LIMITS.text),
    decision,
  };
}

function readType(value: unknown, taskType: TaskType): OutputType {
  const type = matchWord(outputTypes, value) ?? taskTypeProperties[taskType].outputTypes[0] ?? "finding";
  return type === "compliance-gap" && taskType !== "audit" ? "finding" : type;
}

/** Default severity of types that need one. Without it the output would not count for the verdict. */
export const defaultSeverityOf = (type: OutputType): Severity | null =>
  type === "plan-item" || type === "implementation-note" || type === "observation" ? null : "MEDIUM";

/** `notes` is null for an item about an earlier output, which keeps its severity if none is given. */
function readSeverity(value: unknown, type: OutputType, notes: string[] | null, title: string | null): Severity | null {
  if (type === "plan-item" || type === "implementation-note") return null;
  const severity = severities.find((known) => known === textOf(value, 20)?.toUpperCase());
  if (severity !== undefined || notes === null || defaultSeverityOf(type) === null) return severity ?? null;
  notes.push(`"${title}" has no known severity; it counts as MEDIUM.`);
  return defaultSeverityOf(type);
}

function readChallenge(item: Record<string, unknown>, notes: string[]): AnsweredChallenge | null {
  const targetId = textOf(item["target_finding_id"], 40);
  const decision = matchWord(["raised", "escalated", "withdrawn"] as const, item["status"]) ?? "raised";
  const text = textOf(item["challenge_text"], LIMITS.text);
  if (targetId !== null && (text !== null || decision === "withdrawn"))
    return { ref: textOf(item["challenge_id"], 40), targetId, text: text ?? "", decision };
  notes.push("A challenge without a target_finding_id or a challenge_text was left out.");
  return null;
}

function readSignal(item: Record<string, unknown>): CrossDomainSignal | null {
  const domain = textOf(item["domain"], 64)?.toLowerCase() ?? "";
  // The domain becomes part of an expert's prompt, so it must be a name and not a sentence.
  if (!/^[a-z0-9][a-z0-9 _/+.-]{0,39}$/.test(domain) || domain.split(" ").length > 4) return null;
  return { domain, reason: textOf(item["reason"], 1_000) ?? "No reason was given.", findingId: textOf(item["finding_id"], 40) };
}

/**
 * Replaces control characters, except line breaks and tabs, by spaces. Cuts a text above the limit and appends a mark. Null if the value is
 * empty or not a string.
 */
function textOf(value: unknown, limit: number): string | null {
  if (typeof value !== "string") return null;
  const clean = value
    .toWellFormed()
    .replaceAll(/(?![\n\t])[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu, " ")
    .trim();
  if (clean === "") return null;
  return clean.length <= limit ? clean : `${clean.slice(0, limit).toWellFormed()} … [${clean.length - limit} characters cut]`;
}

const matchWord = <T extends string>(known: readonly T[], value: unknown): T | null =>
  known.find((word) => typeof value === "string" && word === value.trim().toLowerCase()) ?? null;
