import type { CouncilInput } from "./input.ts";
import type { Spending } from "./spending.ts";
import type { CapabilityProfile } from "./words.ts";

/** One question to a runtime. */
export interface RoleRequest {
  provider: string;
  message: string;
  model?: string;
  timeoutSeconds: number;
  /** Goes on with the session of the same role. */
  resumeToken?: string;
  profile: CapabilityProfile;
  role: string;
  domain: string;
  round: number;
}

/** What a runtime answers; an expected failure is an answer, too. */
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

/** What a council on one runtime works with. */
export interface BridgeOptions {
  /** Its name in the report: `claude`, `codex`, … or the provider's. */
  bridge: string;
  provider: string;
  model?: string;
  input: CouncilInput;
  profile: CapabilityProfile;
  /** Runs one question; never rejects for an expected failure. */
  execute(request: RoleRequest): Promise<RoleResult>;
  /** Do sessions of this runtime go on? */
  remembers: boolean;
  /** How much slower this runtime is than others. */
  timeoutMultiplier: number;
  /** Seconds until the whole has to be over. */
  secondsLeft(): number;
  /** Takes every question before it is asked; false when there may be no more of them. */
  spending: Spending;
  /** Runs one question when it is its turn; absent: all at the same time. Roles that may change the project must not do so at once. */
  takeTurn?<T>(work: () => Promise<T>): Promise<T>;
  /** Ids of outputs begin with it; default: the runtime's letter. */
  idPrefix?: string;
  /** Writes a line of the event log. */
  log(event: Record<string, unknown>): void;
  onProgress(data: Record<string, unknown>): void;
  /** Why nobody is to be asked at all. */
  skipReason?: string;
  /** Only told in the report: whoever runs the questions passes it on. */
  reasoningLevel?: string | null;
  warnings?: { model: string; reason: string }[];
}
