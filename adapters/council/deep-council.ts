import {
  COUNCIL_OUTPUTS,
  type CouncilReport,
  chooseDomains,
  countPlannedRuns,
  crossRounds,
  formatFileTime,
  type Member,
  openArtifacts,
  recordPanel,
  renderCouncil,
  runDeepCouncil,
  type SkippedRuntime,
  shareEvenly,
} from "bridge-council";
import { toWellFormedJson } from "#contract";
import { failure } from "../shared/process/failure.ts";
import type { CouncilKind, CouncilResult, CouncilTask } from "./council-kind.ts";
import { buildPanelOptions, chooseModels, createTooManyRunsFailure, findSkipReason, listSettingsNotes } from "./panel-council.ts";
import { createUnansweredFailure } from "./unanswered-failure.ts";

/** The runtimes of a council whose input names none. */
const DEFAULT_RUNTIMES = ["claude", "gemini", "codex", "opencode"];
/** Number of roles in the debate about the findings of all panels. */
const CROSS_ROLES = 3;

/** A council over several runtimes: each runs its own panel, and then their findings are debated. */
export const deepCouncil: CouncilKind = {
  provider: "deep-council",
  needsDomains: false,
  maxProviders: 10,
  providers: DEFAULT_RUNTIMES,
  run,
};

async function run(task: CouncilTask): Promise<CouncilResult> {
  const { input, spending, request } = task;
  const { members, skippedRuntimes } = chooseMembers(task);
  const domains = chooseDomains(input);
  const choices = new Map(await Promise.all(members.map(async ({ provider }) => [provider, await chooseModels(provider, task)] as const)));
  const runsOfMembers = [...choices.values()].map(({ models }) => countPlannedRuns({ ...input, domains }) * Math.max(1, models.length));
  const runsOfDebate = crossRounds[input.intensity] * CROSS_ROLES;
  const planned = runsOfMembers.reduce((sum, count) => sum + count, 0) + runsOfDebate;
  if (planned > spending.left) return createTooManyRunsFailure(planned, spending.left);
  // Each panel and the debate have their own share, so extra questions of one panel, for repairs and added domains, do not use up
  // the shares of the others.
  const debate = spending.share(runsOfDebate);
  const shares = shareEvenly(spending, runsOfMembers);
  const shareOf = new Map([...choices.keys()].map((provider, index) => [provider, shares[index]] as const));

  const now = () => new Date();
  const artifacts = await openArtifacts({
    workspace: request.directories.workspace,
    directory: COUNCIL_OUTPUTS,
    name: `${formatFileTime(now())}-council-${input.sessionId}`,
    hasLog: true,
  });
  const report = await runDeepCouncil({
    input: { ...input, domains },
    members: members.map((member) => {
      const [model] = choices.get(member.provider)?.models ?? [];
      return { ...member, ...(model === undefined ? {} : { model }) };
    }),
    skippedRuntimes,
    async runMember(member, memberInput) {
      const share = shareOf.get(member.provider);
      const report = await recordPanel({
        ...buildPanelOptions(member.provider, task),
        ...(share === undefined ? {} : { spending: share }),
        input: memberInput,
        ...(choices.get(member.provider) ?? { models: [], warnings: [] }),
      });
      share?.release();
      return report;
    },
    execute: task.execute,
    secondsLeft: task.secondsLeft,
    spending: debate,
    now,
    log: artifacts.log,
    onProgress: task.onProgress,
  });
  const reportWithNotes: CouncilReport = { ...report, synthesis_notes: [...report.synthesis_notes, ...listSettingsNotes(task)] };
  await artifacts.write("json", `${toWellFormedJson(JSON.stringify(reportWithNotes, null, 2))}\n`);
  await artifacts.write("md", renderCouncil(reportWithNotes, { scope: input.scope }));
  await artifacts.close();
  const faults = artifacts.fault === null ? [] : [artifacts.fault];
  return toResult(
    { ...reportWithNotes, synthesis_notes: [...reportWithNotes.synthesis_notes, ...faults], artifacts: artifacts.paths },
    input.scope,
  );
}

/**
 * Chooses the members: the runtimes that the input names, or the default ones. Skips runtimes that are not loaded or are disabled in the
 * settings.
 */
function chooseMembers(task: CouncilTask): { members: Member[]; skippedRuntimes: SkippedRuntime[] } {
  const { input } = task;
  const providers = input.providers ?? DEFAULT_RUNTIMES;
  const skippedRuntimes: SkippedRuntime[] = [];
  const members = providers.flatMap((provider) => {
    const reason = findSkipReason(provider, task);
    if (reason === null) {
      const resumesSessions = task.config.describeProvider(provider)?.capabilities.sessionResume === true;
      return [{ bridge: provider, provider, resumesSessions }];
    }
    skippedRuntimes.push({ bridge: provider, reason });
    return [];
  });
  return { members, skippedRuntimes };
}

function toResult(report: CouncilReport, scope: string): CouncilResult {
  const rendered = { output: renderCouncil(report, { scope }), outputs: { ...report }, connection: "native-dispatch" } as const;
  if (report.status === "COMPLETED") return { status: "ok", ...rendered };
  const summary = report.abort_reason ?? "The council was stopped.";
  const isStopped = report.bridge_reports.some(({ status }) => status === "ABORTED");
  return { ...(isStopped ? failure("cancelled", summary) : createUnansweredFailure(summary, report.skip_reasons)), ...rendered };
}
