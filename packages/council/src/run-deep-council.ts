import { domainsOf } from "./domains/find-expert.ts";
import { createIds } from "./ids.ts";
import type { CouncilInput } from "./input.ts";
import type { Runtime } from "./panel/ask-roles.ts";
import type { RoleRequest, RoleResult } from "./panel/panel-options.ts";
import type { CouncilReport, SkippedRuntime } from "./reports/council-report.ts";
import {
  type CouncilRun,
  createAbortedReport,
  createCompletedReport,
  type MemberReport,
  selectReports,
} from "./reports/deep-council-report.ts";
import { type MergedOutput, mergeSources } from "./reports/merge-sources.ts";
import type { PanelReport } from "./reports/report.ts";
import { runCrossDebate } from "./run-cross-debate.ts";
import type { ModelsReport } from "./run-models.ts";
import type { Spending } from "./spending.ts";

/** A bridge that may participate in the council. `model` is for the debate about all findings. */
export interface Member extends Runtime {
  bridge: string;
}

/** Options of a council over several bridges. */
export interface DeepCouncilOptions {
  input: CouncilInput;
  members: readonly Member[];
  /** Bridges that the settings exclude, with the reason. */
  skippedRuntimes: readonly SkippedRuntime[];
  /** Runs one bridge and returns its report. Does not reject for an expected failure. */
  runMember(member: Member, input: CouncilInput): Promise<PanelReport | ModelsReport>;
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
export function chooseDomains({ domains, registry, scope, taskDescription, contextSummary }: CouncilInput): string[] {
  if (domains.length > 0) return domains;
  const chosen = domainsOf(`${scope}\n${taskDescription}\n${contextSummary}`, CHOSEN_DOMAINS, registry);
  return chosen.length > 0 ? chosen : FALLBACK_DOMAINS;
}

/** Runs all bridges concurrently, merges and debates their findings, and returns the report. */
export async function runDeepCouncil(options: DeepCouncilOptions): Promise<CouncilReport> {
  const { members, skippedRuntimes, log } = options;
  const input = { ...options.input, domains: chooseDomains(options.input) };
  const reports = await runMembers(options, input);
  for (const { bridge, report } of selectReports("HALTED", reports)) {
    log({ event: "halted_to_skipped", bridge, halt_reason: report.halt_reason });
  }
  const run: CouncilRun = { input, endedAt: options.now(), reports, skippedRuntimes };
  if (selectReports("ABORTED", reports).length > 0) return createAbortedReport(run, "The council was stopped.");
  const completed = selectReports("COMPLETED", reports);
  if (completed.length === 0) return createAbortedReport(run, "No runtime completed its part of the council.");

  const merged = mergeReports(completed, log);
  const debated = await runCrossDebate({
    input,
    merged,
    completedRuntimes: members.filter((_, index) => reports[index]?.report.status === "COMPLETED"),
    execute: options.execute,
    secondsLeft: options.secondsLeft,
    spending: options.spending,
    log,
    onProgress: options.onProgress,
  });
  return createCompletedReport(run, merged, debated);
}

/** Runs the bridges concurrently, and returns their reports in the order of the members. */
function runMembers({ members, runMember, log, onProgress }: DeepCouncilOptions, input: CouncilInput): Promise<MemberReport[]> {
  let done = 0;
  return Promise.all(
    members.map(async (member) => {
      const { bridge, provider } = member;
      log({ event: "bridge_start", bridge, provider });
      const report = await runMember(member, input);
      const { status, verdict, outputs } = report;
      done += 1;
      log({ event: "bridge_complete", bridge, status, verdict, output_count: outputs.length });
      onProgress({ phase: "bridges", bridge, provider, status, done, of: members.length });
      return { bridge, report };
    }),
  );
}

/** Merges the findings that several bridges report. */
function mergeReports(completed: readonly MemberReport[], log: DeepCouncilOptions["log"]): MergedOutput[] {
  const merged = mergeSources(
    completed.map(({ bridge, report }) => ({ source: bridge, outputs: report.outputs, disputed: report.disputed_outputs })),
    createIds("D"),
  );
  log({ event: "stage_a", outputs: completed.reduce((count, { report }) => count + report.outputs.length, 0), merged: merged.length });
  for (const { id, severity, title, domain, positions } of merged) {
    log({ event: "output", id, severity, title, domain });
    for (const position of positions) log({ event: "merge", kept: id, dropped: position.id, bridge: position.source });
  }
  return merged;
}
