import type { CouncilInput } from "../input.ts";
import type { Spending } from "../spending.ts";
import type { CapabilityProfile } from "../types.ts";

/** One prompt to a runtime. */
export interface RoleRequest {
  provider: string;
  message: string;
  model?: string;
  timeoutSeconds: number;
  /** Continues the session of the same role. */
  resumeToken?: string;
  profile: CapabilityProfile;
  role: string;
  domain: string;
  round: number;
}

/** Result of a prompt. An expected failure is a result, not an exception. */
export interface RoleResult {
  status: "ok" | "error";
  output?: string | undefined;
  errorCode?: string | undefined;
  error?: string | undefined;
  usage?: Spending["usage"] | undefined;
  costUsd?: number | undefined;
  model?: string | undefined;
  resumeToken?: string | undefined;
  connection?: string | undefined;
}

/** Options of a council on one runtime. */
export interface PanelOptions {
  /** Name of the runtime in the report: `claude`, `codex` … or the name of the provider. */
  bridge: string;
  provider: string;
  model?: string;
  input: CouncilInput;
  profile: CapabilityProfile;
  /** Runs one prompt. Does not reject for an expected failure. */
  execute(request: RoleRequest): Promise<RoleResult>;
  /** Whether the runtime can continue sessions. */
  resumesSessions: boolean;
  /** Factor for time limits of this runtime, relative to other runtimes. */
  timeoutMultiplier: number;
  /** Returns the seconds until the deadline of the council. */
  secondsLeft(): number;
  /** Counts each prompt before it is sent, and limits their number. */
  spending: Spending;
  /** Serializes prompts of roles that may change the project. Absent: prompts run concurrently. */
  takeTurn?<T>(work: () => Promise<T>): Promise<T>;
  /** Prefix of output ids. Default: the letter of the runtime. */
  idPrefix?: string;
  /** Writes one line to the event log. */
  log(event: Record<string, unknown>): void;
  onProgress(data: Record<string, unknown>): void;
  /** Reason why no role is asked; absent when the runtime is available. */
  skipReason?: string;
  /** Copied to the report. The caller passes it to the runtime. */
  reasoningLevel?: string | null;
  warnings?: { model: string; reason: string }[];
}
