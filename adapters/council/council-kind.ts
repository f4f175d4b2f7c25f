import type { CapabilityProfile, CouncilInput, CouncilSettings, RoleRequest, RoleResult, Spending } from "bridge-council";
import type { AdapterConfig, ExecutionRequest, ExecutionResult } from "#contract";

/** What a council knows at its end. */
export type Ending = Pick<ExecutionResult, "status" | "output" | "outputs" | "errorCode" | "error" | "connection">;

/** In what one council differs from another. */
export interface CouncilKind {
  provider: string;
  /** Must the input name its domains? */
  needsDomains: boolean;
  /** Runtimes that the input may name, at most. */
  maxProviders: number;
  /** The runtimes that it asks, when its input names none. */
  providers: readonly string[];
  run(task: CouncilTask): Promise<Ending>;
}

/** What starts a council. */
export interface CouncilStart {
  request: ExecutionRequest;
  config: AdapterConfig;
  input: CouncilInput;
  maxRuns: number;
  signal: AbortSignal;
  secondsLeft(): number;
  onProgress(data: Record<string, unknown>): void;
}

/** One council on its way. */
export interface CouncilTask extends Omit<CouncilStart, "signal"> {
  settings: CouncilSettings;
  spending: Spending;
  /** What the roles may do. */
  profile: CapabilityProfile;
  /** Asks a runtime one question, as a child task. */
  execute(request: RoleRequest): Promise<RoleResult>;
  /** Runs one question after the other; absent when they may run at the same time. */
  takeTurn?<T>(work: () => Promise<T>): Promise<T>;
}
