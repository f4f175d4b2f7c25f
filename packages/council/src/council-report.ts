import type { BridgeReport, RoleRecord } from "./report.ts";
import type { Intensity, Output, OutputState, Severity, TaskType, Verdict } from "./words.ts";

/** A bridge that did not take part. */
export interface SkippedBridge {
  bridge: string;
  reason: string;
}

/** One version of a finding, as one bridge reports it under an id of its own. */
export interface Position {
  bridge: string;
  id: string;
  severity: Severity | null;
  position: string;
}

/** A finding in the report of a council. */
export interface CouncilFinding extends Omit<Output, "status" | "domain" | "agent"> {
  status: OutputState | "downgraded";
  domains: string[];
  /** The outputs of `bridge_reports` that it stands for; empty when the council itself found it. */
  positions: Position[];
}

/** A finding on which the council did not agree. */
export interface DisputedFinding extends CouncilFinding {
  unresolved_challenge: string;
}

/** The lists of a council's report. Each finding is in exactly one of them. */
export interface FindingLists {
  multi_source_confirmed: (CouncilFinding & { confirmed_by: string[]; escalated: boolean; shared_cli_path: boolean })[];
  single_source_findings: (CouncilFinding & { source_bridge: string })[];
  disputed_findings: DisputedFinding[];
  withdrawn_findings: CouncilFinding[];
  /** What only became visible when the findings of all bridges were compared. */
  integration_findings: CouncilFinding[];
}

/** The report of a council over several bridges; every field is always there. */
export interface CouncilReport extends FindingLists {
  type: "deep-council";
  review_id: string;
  status: "COMPLETED" | "ABORTED";
  abort_reason: string | null;
  timestamp: string;
  intensity: Intensity;
  task_type: TaskType;
  verdict: Verdict | null;
  bridges_invoked: string[];
  bridges_attempted: string[];
  /** Those that completed. */
  bridges_available: string[];
  bridges_skipped: string[];
  bridges_halted: string[];
  skip_reasons: SkippedBridge[];
  /** Bridges that need a person. Bridge cannot wait for one, so the council continued without them. */
  auto_skipped_halted_bridges: { bridge: string; halt_reason: string }[];
  /** True unless every bridge that was meant to take part has completed. */
  partial_coverage: boolean;
  domains_covered: string[];
  debate_rounds: number | null;
  roles: RoleRecord[];
  synthesis_notes: string[];
  bridge_reports: BridgeReport[];
  artifacts: string[];
}
