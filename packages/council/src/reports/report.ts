import type { CapabilityProfile, Confidence, Output, ReportStatus, TaskType, Verdict } from "../types.ts";

/** Token usage of all prompts. A count is absent if no runtime reported it. */
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
  /** Reason why it did not answer; otherwise null. */
  reason: string | null;
  /** The role's own summary of its answer; null if there is none. */
  summary: string | null;
}

/** Report of a council on one runtime. All fields are always present, null or empty if they do not apply. */
export interface PanelReport {
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
  /** Length of the longest prompt of each round, in characters. */
  [prompt_size_chars: `prompt_size_chars_r${number}`]: number | null;
  prompt_size_chars_r1: number | null;
  prompt_size_chars_r2: number | null;
  /** Number of roles whose prompts the runtime received. Each is an agent with its own session. */
  agents_spawned: number;
  model_validation_warnings: { model: string; reason: string }[];
  /** Reasoning level of the workspace settings. Not every runtime supports it. */
  reasoning_level: string | null;
  /** All roles and whether they answered. */
  roles: RoleRecord[];
  /** Notes about omitted parts; empty for none. */
  notes: string[];
  /** Paths of the written files, relative to the workspace. */
  artifacts: string[];
}

/** Returns why no role of a bridge answered, with the remedy if a person must act. */
export const describeNoAnswer = ({ status, skip_reason, halt_reason, halt_message }: PanelReport): string =>
  status === "HALTED"
    ? [halt_reason ?? "halted", ...(halt_message === null ? [] : [halt_message])].join(": ")
    : (skip_reason ?? "no reason");
