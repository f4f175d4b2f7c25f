import type { MergedOutput } from "./merge-sources.ts";
import type { BridgeReport, RoleRecord } from "./report.ts";
import type { Intensity, Output, OutputState, Severity, TaskType, Verdict } from "./words.ts";

/** A bridge that did not take part. */
export interface SkippedBridge {
  bridge: string;
  reason: string;
}

/** A finding of the council, as its report tells it. */
export interface CouncilFinding extends Omit<Output, "status" | "domain" | "agent"> {
  status: OutputState | "downgraded";
  domains: string[];
}

/** What bridges think of a finding that they do not agree on. */
export interface DisputedFinding {
  id: string;
  title: string;
  severity: Severity | null;
  positions: { bridge: string; severity: Severity | null; position: string }[];
  unresolved_challenge: string;
}

/** What a council over several bridges reports; every field is always there. */
export interface CouncilReport {
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
  /** Nobody could be asked, so what a person had to mend was left out. */
  auto_skipped_halted_bridges: { bridge: string; halt_reason: string }[];
  partial_coverage: boolean;
  domains_covered: string[];
  multi_source_confirmed: (CouncilFinding & { confirmed_by: string[]; escalated: boolean; shared_cli_path: boolean })[];
  single_source_findings: (CouncilFinding & { source_bridge: string })[];
  disputed_findings: DisputedFinding[];
  withdrawn_findings: CouncilFinding[];
  /** What only showed when the findings of all bridges lay side by side. */
  integration_findings: CouncilFinding[];
  debate_rounds: number | null;
  roles: RoleRecord[];
  synthesis_notes: string[];
  bridge_reports: BridgeReport[];
  artifacts: string[];
}

/** The disputed findings, with what each bridge thinks of them. */
export const describeDisputes = (
  disputed: readonly { output: Output; unresolved_challenge: string }[],
  merged: readonly MergedOutput[],
): DisputedFinding[] =>
  disputed.map(({ output: { id, title, severity }, unresolved_challenge }) => ({
    id,
    title,
    severity,
    positions: (merged.find((known) => known.id === id)?.positions ?? []).map(({ source, severity: given, position }) => ({
      bridge: source,
      severity: given,
      position,
    })),
    unresolved_challenge,
  }));
