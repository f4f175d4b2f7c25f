import type { CapabilityProfile, Confidence, Output, ReportStatus, TaskType, Verdict } from "./words.ts";

/** Token counts of everything that was asked; a number is absent when nobody told it. */
export interface Usage {
  inputTokens: number;
  outputTokens: number;
  thinkingTokens?: number | undefined;
  cacheReadTokens?: number | undefined;
  cacheWriteTokens?: number | undefined;
}

/** Whether a role answered, in one round. */
export interface RoleRecord {
  round: number;
  role: string;
  domain: string;
  answered: boolean;
  /** The reason when it did not; else null. */
  reason: string | null;
  /** The role's own summary of its answer; null without one. */
  summary: string | null;
}

/** What a council on one runtime reports; every field is always there, null or empty where it does not apply. */
export interface BridgeReport {
  bridge: string;
  model_family: string;
  connection_used: string | null;
  session_id: string;
  task_type: TaskType;
  capability_profile: CapabilityProfile;
  status: ReportStatus;
  skip_reason: string | null;
  halt_reason: string | null;
  halt_message: string | null;
  domains_covered: string[];
  debate_rounds: number | null;
  outputs: Output[];
  withdrawn_outputs: Output[];
  disputed_outputs: { output: Output; unresolved_challenge: string }[];
  verdict: Verdict | null;
  confidence: Confidence | null;
  /** Characters of the longest prompt of each round. */
  [prompt_size_chars: `prompt_size_chars_r${number}`]: number | null;
  prompt_size_chars_r1: number | null;
  prompt_size_chars_r2: number | null;
  /** Roles whose questions the runtime has taken: each is an agent with a session of its own. */
  agents_spawned: number;
  model_validation_warnings: { model: string; reason: string }[];
  /** The level that the settings of the workspace ask for; only some runtimes have a setting for it. */
  reasoning_level: string | null;
  /** Which roles answered, and which did not. */
  roles: RoleRecord[];
  /** What was cut short, in words; empty when nothing was. */
  notes: string[];
  /** Paths of what was written, relative to the workspace. */
  artifacts: string[];
}

const families: ReadonlyMap<string, string> = new Map([
  ["claude", "anthropic/claude"],
  ["gemini", "google/gemini"],
  ["codex", "openai/codex"],
  ["opencode", "multi-provider"],
]);

/** Whose models a runtime runs. */
export const modelFamilyOf = (bridge: string): string => families.get(bridge) ?? "multi-provider";

/** The report's words for a connection; those that it has no word for run inside the runtime. */
export const connectionWord = (connection: string | undefined): string | null =>
  connection === undefined ? null : connection === "acp" || connection === "in-process" ? "native-dispatch" : connection;

/** What a failure of the runtime makes of the whole: a person can mend it, somebody stopped it, or it is left out. */
export function statusOf(errorCode: string | undefined): Exclude<ReportStatus, "COMPLETED"> {
  if (errorCode === "cancelled") return "ABORTED";
  return errorCode === "authentication_required" || errorCode === "user_action_required" ? "HALTED" : "SKIPPED";
}
