import type { RoleRequest, RoleResult } from "./bridge-options.ts";
import { domainsOf } from "./domains/find-expert.ts";
import { createIds } from "./ids.ts";
import type { CouncilInput } from "./input.ts";
import type { CouncilReport, SkippedBridge } from "./reports/council-report.ts";
import { listFindings } from "./reports/list-findings.ts";
import { mergeSources } from "./reports/merge-sources.ts";
import type { BridgeReport } from "./reports/report.ts";
import { judgeCouncil } from "./reports/verdict.ts";
import { runCrossDebate } from "./run-cross-debate.ts";
import type { ModelsReport } from "./run-models.ts";
import type { Spending } from "./spending.ts";

/** A bridge that may participate in the council. */
export interface Member {
  bridge: string;
  provider: string;
  /** Model for the debate about all findings. Default: the default of the runtime. */
  model?: string;
}

/** Options of a council over several bridges. */
export interface DeepCouncilOptions {
  input: CouncilInput;
  members: readonly Member[];
  /** Bridges that the settings exclude, with the reason. */
  skippedRuntimes: readonly SkippedBridge[];
  /** Runs one bridge and returns its report. Does not reject for an expected failure. */
  runMember(member: Member, input: CouncilInput): Promise<BridgeReport | ModelsReport>;
  execute(request: RoleRequest): Promise<RoleResult>;
  secondsLeft(): number;
  spending: Spending;
  now(): Date;
  log(event: Record<string, unknown>): void;
  onProgress(data: Record<string, unknown>): void;
}

/** Maximum number of domains if the input names none. */
const CHOSEN_DOMAINS = 4;
/** Domains if the text mentions none. */
const FALLBACK_DOMAINS = ["architecture", "code-quality"];

/** Returns the domains of a council: those of the input, otherwise those that its text mentions. */
export function chooseDomains({ domains, scope, taskDescription, contextSummary }: CouncilInput): string[] {
  if (domains.length > 0) return domains;
  const chosen = domainsOf(`${scope}\n${taskDescription}\n${contextSummary}`, CHOSEN_DOMAINS);
  return chosen.length > 0 ? chosen : FALLBACK_DOMAINS;
}

/** Runs all bridges concurrently, merges and debates their findings, and returns the report. */
export async function runDeepCouncil(options: DeepCouncilOptions): Promise<CouncilReport> {
  const { members, skippedRuntimes, log, onProgress } = options;
  const input = { ...options.input, domains: chooseDomains(options.input) };
  let done = 0;
  const reports = await Promise.all(
    members.map(async (member) => {
      log({ event: "bridge_start", bridge: member.bridge, provider: member.provider });
      const report = await options.runMember(member, input);
      done += 1;
      log({
        event: "bridge_complete",
        bridge: member.bridge,
        status: report.status,
        verdict: report.verdict,
        output_count: report.outputs.length,
      });
      const { bridge, provider } = member;
      onProgress({ phase: "bridges", bridge, provider, status: report.status, done, of: members.length });
      return { member, report };
    }),
  );
  const completed = reports.filter(({ report }) => report.status === "COMPLETED");
  const halted = reports.filter(({ report }) => report.status === "HALTED");
  const skipped: SkippedBridge[] = [
    ...skippedRuntimes,
    ...reports
      .filter(({ report }) => report.status === "SKIPPED")
      .map(({ member, report }) => ({ bridge: member.bridge, reason: report.skip_reason ?? "no reason" })),
    ...halted.map(({ member, report }) => ({ bridge: member.bridge, reason: report.halt_reason ?? "halted" })),
  ];
  for (const { member, report } of halted) log({ event: "halted_to_skipped", bridge: member.bridge, halt_reason: report.halt_reason });

  const common = {
    type: "deep-council" as const,
    review_id: input.sessionId,
    timestamp: options.now().toISOString(),
    intensity: input.intensity,
    task_type: input.taskType,
    bridges_invoked: members.map(({ bridge }) => bridge),
    bridges_available: completed.map(({ member }) => member.bridge),
    bridges_skipped: skipped.map(({ bridge }) => bridge),
    skip_reasons: skipped,
    auto_skipped_halted_bridges: halted.map(({ member, report }) => ({
      bridge: member.bridge,
      halt_reason: report.halt_message ?? report.halt_reason ?? "halted",
    })),
    partial_coverage: completed.length < members.length + skippedRuntimes.length,
    bridge_reports: reports.map(({ report }) => report),
    artifacts: [],
  };
  const wasStopped = reports.some(({ report }) => report.status === "ABORTED");
  if (completed.length === 0 || wasStopped) {
    return {
      ...common,
      status: "ABORTED",
      abort_reason: wasStopped ? "The council was stopped." : "No runtime completed its part of the council.",
      bridges_attempted: common.bridges_invoked,
      bridges_halted: halted.map(({ member }) => member.bridge),
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

  const merged = mergeSources(
    completed.map(({ member, report }) => ({ source: member.bridge, outputs: report.outputs, disputed: report.disputed_outputs })),
    createIds("D"),
  );
  log({ event: "stage_a", outputs: completed.reduce((count, { report }) => count + report.outputs.length, 0), merged: merged.length });
  for (const { id, severity, title, domain, positions } of merged) {
    log({ event: "output", id, severity, title, domain });
    for (const position of positions) log({ event: "merge", kept: id, dropped: position.id, bridge: position.source });
  }
  const debated = await runCrossDebate({
    input,
    merged,
    completedRuntimes: completed.map(({ member }) => member),
    execute: options.execute,
    secondsLeft: options.secondsLeft,
    spending: options.spending,
    log,
    onProgress,
  });
  const { lists, weighed } = listFindings({
    merged,
    debated,
    deep: new Set(completed.filter(({ report }) => isDeep(report)).map(({ member }) => member.bridge)),
    stateless: new Set(completed.filter(({ report }) => report.connection_used === "cli").map(({ member }) => member.bridge)),
  });
  const lost = debated.roles.filter(({ answered }) => !answered);
  return {
    ...common,
    ...lists,
    status: "COMPLETED",
    abort_reason: null,
    bridges_attempted: common.bridges_invoked,
    bridges_halted: halted.map(({ member }) => member.bridge),
    verdict: judgeCouncil(input.taskType, weighed),
    domains_covered: [...new Set(completed.flatMap(({ report }) => report.domains_covered))],
    debate_rounds: debated.rounds,
    roles: debated.roles,
    synthesis_notes: [
      ...reports.flatMap(({ member, report }) => report.notes.map((note) => `${member.bridge}: ${note}`)),
      ...lost.map(({ role, round, reason }) => `The ${role} did not answer in round ${round} of the council's debate: ${reason}.`),
      ...debated.notes,
    ],
  };
}

/** Whether the roles of a bridge debated or it ran several models, so that its findings have more weight. */
const isDeep = (report: BridgeReport | ModelsReport): boolean =>
  (report.debate_rounds ?? 0) >= 1 || ("instances_completed" in report && report.instances_completed >= 2);
