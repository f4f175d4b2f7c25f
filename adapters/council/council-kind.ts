import type { CapabilityProfile, CouncilInput, CouncilSettings, RoleRequest, RoleResult, Spending } from "bridge-council";
import type { AdapterConfig, ExecutionRequest, ExecutionResult } from "#contract";

/** The result of a council, without its usage and duration. */
export type CouncilResult = Pick<ExecutionResult, "status" | "output" | "outputs" | "errorCode" | "error" | "connection">;

/** The properties in which the panel of one runtime and the deep council differ. */
export interface CouncilKind {
  provider: string;
  /** Whether the input must name its domains. */
  needsDomains: boolean;
  /** Maximum number of runtimes that the input may name. */
  maxProviders: number;
  /** The runtimes to use if the input names none. */
  providers: readonly string[];
  run(task: CouncilTask): Promise<CouncilResult>;
}

/** The parameters of a council. */
export interface CouncilParameters {
  request: ExecutionRequest;
  config: AdapterConfig;
  input: CouncilInput;
  maxRuns: number;
  signal: AbortSignal;
  secondsLeft(): number;
  onProgress(data: Record<string, unknown>): void;
}

/** A running council. */
export interface CouncilTask extends Omit<CouncilParameters, "signal"> {
  settings: CouncilSettings;
  spending: Spending;
  /** The permissions of the roles. */
  profile: CapabilityProfile;
  /** Runs one question on a runtime, as a child task. */
  execute(request: RoleRequest): Promise<RoleResult>;
  /** Serializes questions; absent if they may run concurrently. */
  takeTurn?<T>(work: () => Promise<T>): Promise<T>;
}
