import type { CouncilInput } from "../input.ts";
import type { CrossDebateResult } from "../run-cross-debate.ts";
import type { ModelsReport } from "../run-models.ts";
import type { ReportStatus } from "../types.ts";
import type { CouncilReport, SkippedRuntime } from "./council-report.ts";
import { listFindings } from "./list-findings.ts";
import type { MergedOutput } from "./merge-sources.ts";
import { describeNoAnswer, type PanelReport } from "./report.ts";
import { judgeCouncil } from "./verdict.ts";

/** The report of one bridge of a council. */
export interface MemberReport {
  bridge: string;
  report: PanelReport | ModelsReport;
}

/** A council whose bridges have ended. */
export interface CouncilRun {
  input: CouncilInput;
  /** End of the last bridge. */
  endedAt: Date;
  reports: readonly MemberReport[];
  /** Bridges that the settings exclude, with the reason. */
  skippedRuntimes: readonly SkippedRuntime[];
}

/** Returns the reports with a status. */
export const selectReports = (status: ReportStatus, reports: readonly MemberReport[]): MemberReport[] =>
  reports.filter(({ report }) => report.status === status);

/** Returns the report of a council without findings. */
export function createAbortedReport(run: CouncilRun, reason: string): CouncilReport {
  return {
    ...describeBridges(run),
    status: "ABORTED",
    abort_reason: reason,
    ...listAttempts(run),
    verdict: null,
    domains_covered: [],
    multi_source_confirmed: [],
    single_source_findings: [],
    disputed_findings: [],
    withdrawn_findings: [],
    integration_findings: [],
    debate_rounds: null,
    roles: [],
    synthesis_notes: [],
  };
}

/** Returns the report of a council whose bridges' findings were merged and debated. */
export function createCompletedReport(run: CouncilRun, merged: readonly MergedOutput[], debated: CrossDebateResult): CouncilReport {
  const completed = selectReports("COMPLETED", run.reports);
  const { lists, weighed } = listFindings({
    merged,
    debated,
    deepBridges: new Set(completed.filter(({ report }) => isDeep(report)).map(({ bridge }) => bridge)),
    statelessBridges: new Set(completed.filter(({ report }) => report.connection_used === "cli").map(({ bridge }) => bridge)),
  });
  const lost = debated.roles.filter(({ answered }) => !answered);
  return {
    ...describeBridges(run),
    ...lists,
    status: "COMPLETED",
    abort_reason: null,
    ...listAttempts(run),
    verdict: judgeCouncil(run.input.taskType, weighed),
    domains_covered: [...new Set(completed.flatMap(({ report }) => report.domains_covered))],
    debate_rounds: debated.rounds,
    roles: debated.roles,
    synthesis_notes: [
      ...run.reports.flatMap(({ bridge, report }) => report.notes.map((note) => `${bridge}: ${note}`)),
      ...lost.map(({ role, round, reason }) => `The ${role} did not answer in round ${round} of the council's debate: ${reason}.`),
      ...debated.notes,
    ],
  };
}

function describeBridges({ input, endedAt, reports, skippedRuntimes }: CouncilRun) {
  const completed = selectReports("COMPLETED", reports);
  const halted = selectReports("HALTED", reports);
  const skipped: SkippedRuntime[] = [
    ...skippedRuntimes,
    ...[...selectReports("SKIPPED", reports), ...halted].map(({ bridge, report }) => ({ bridge, reason: describeNoAnswer(report) })),
  ];
  return {
    type: "deep-council" as const,
    review_id: input.sessionId,
    timestamp: endedAt.toISOString(),
    intensity: input.intensity,
    task_type: input.taskType,
    bridges_invoked: reports.map(({ bridge }) => bridge),
    bridges_available: completed.map(({ bridge }) => bridge),
    bridges_skipped: skipped.map(({ bridge }) => bridge),
    skip_reasons: skipped,
    auto_skipped_halted_bridges: halted.map(({ bridge, report }) => ({
      bridge,
      halt_reason: report.halt_message ?? report.halt_reason ?? "halted",
    })),
    partial_coverage: completed.length < reports.length + skippedRuntimes.length,
    bridge_reports: reports.map(({ report }) => report),
    artifacts: [],
  };
}

const listAttempts = ({ reports }: CouncilRun) => ({
  bridges_attempted: reports.map(({ bridge }) => bridge),
  bridges_halted: selectReports("HALTED", reports).map(({ bridge }) => bridge),
});

/** Returns whether the findings of a bridge have more weight, because its roles debated or it ran several models. */
const isDeep = (report: PanelReport | ModelsReport): boolean =>
  (report.debate_rounds ?? 0) >= 1 || ("instances_completed" in report && report.instances_completed >= 2);
