import type { Intensity, Output, OutputState, Severity, TaskType, Verdict } from "../types.ts";
import type { PanelReport, RoleRecord } from "./report.ts";

/** A bridge that did not participate. */
export interface SkippedRuntime {
  bridge: string;
  reason: string;
}

/** One version of a finding, reported by one bridge with its own id. */
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
  /** Outputs in `bridge_reports` that were merged into it; empty for findings of the council itself. */
  positions: Position[];
}

/** A finding that remained disputed. */
export interface DisputedFinding extends CouncilFinding {
  unresolved_challenge: string;
}

/** The lists of a council's report. Each finding is in exactly one of them. */
export interface FindingLists {
  multi_source_confirmed: (CouncilFinding & { confirmed_by: string[]; escalated: boolean; shared_cli_path: boolean })[];
  single_source_findings: (CouncilFinding & { source_bridge: string })[];
  disputed_findings: DisputedFinding[];
  withdrawn_findings: CouncilFinding[];
  /** Findings that resulted from comparing the findings of all bridges. */
  integration_findings: CouncilFinding[];
}

/** Report of a council over several bridges. All fields are always present. */
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
  /** Bridges that completed. */
  bridges_available: string[];
  bridges_skipped: string[];
  bridges_halted: string[];
  skip_reasons: SkippedRuntime[];
  /** Bridges that need a person. Bridge cannot wait for one, so the council continued without them. */
  auto_skipped_halted_bridges: { bridge: string; halt_reason: string }[];
  /** False only if every intended bridge completed. */
  partial_coverage: boolean;
  domains_covered: string[];
  debate_rounds: number | null;
  roles: RoleRecord[];
  synthesis_notes: string[];
  bridge_reports: PanelReport[];
  artifacts: string[];
}
