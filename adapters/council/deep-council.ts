import {
  COUNCIL_OUTPUTS,
  type CouncilReport,
  chooseDomains,
  crossRounds,
  fileTime,
  type Member,
  openArtifacts,
  plannedRuns,
  recordBridge,
  renderCouncil,
  runDeepCouncil,
  type SkippedBridge,
  shareEvenly,
} from "bridge-council";
import type { TaskErrorCode } from "#contract";
import type { CouncilKind, CouncilTask, Ending } from "./council-kind.ts";
import { tooManyRuns } from "./ending.ts";
import { chooseModels, memberOptions, obstacleTo, settingsNotes } from "./panel-council.ts";

/** The runtimes of a council that names none, in this order. */
const usualRuntimes = ["claude", "gemini", "codex", "opencode"];
/** Roles of the debate over what the bridges found. */
const CROSS_ROLES = 3;

/** A council over several runtimes: each looks by itself, and then what they found is debated. */
export const deepCouncil: CouncilKind = {
  provider: "deep-council",
  needsDomains: false,
  maxProviders: 10,
  providers: usualRuntimes,
  run,
};

async function run(task: CouncilTask): Promise<Ending> {
  const { input, spending, request } = task;
  const { members, leftOut } = chooseMembers(task);
  const domains = chooseDomains(input);
  const choices = new Map(await Promise.all(members.map(async ({ provider }) => [provider, await chooseModels(provider, task)] as const)));
  const ofMembers = [...choices.values()].map(({ models }) => plannedRuns({ ...input, domains }) * Math.max(1, models.length));
  const ofDebate = crossRounds[input.intensity] * CROSS_ROLES;
  const planned = ofMembers.reduce((sum, count) => sum + count, 0) + ofDebate;
  if (planned > spending.left) return tooManyRuns(planned, spending.left);
  // What a runtime asks beyond its plan, for repairs and domains that were called for, no other one has to go without.
  const debate = spending.share(ofDebate);
  const shares = shareEvenly(spending, ofMembers);
  const shareOf = new Map([...choices.keys()].map((provider, index) => [provider, shares[index]] as const));

  const now = () => new Date();
  const artifacts = await openArtifacts({
    workspace: request.directories.workspace,
    directory: COUNCIL_OUTPUTS,
    name: `${fileTime(now())}-council-${input.sessionId}`,
    hasLog: true,
  });
  const report = await runDeepCouncil({
    input: { ...input, domains },
    members: members.map((member) => {
      const [model] = choices.get(member.provider)?.models ?? [];
      return { ...member, ...(model === undefined ? {} : { model }) };
    }),
    leftOut,
    async runMember(member, own) {
      const share = shareOf.get(member.provider);
      const report = await recordBridge({
        ...memberOptions(member.bridge, member.provider, task),
        ...(share === undefined ? {} : { spending: share }),
        input: own,
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
  const noted: CouncilReport = { ...report, synthesis_notes: [...report.synthesis_notes, ...settingsNotes(task)] };
  await artifacts.write("json", `${JSON.stringify(noted, null, 2)}\n`);
  await artifacts.write("md", renderCouncil(noted, { scope: input.scope }));
  await artifacts.close();
  const faults = artifacts.fault === null ? [] : [artifacts.fault];
  return endWith({ ...noted, synthesis_notes: [...noted.synthesis_notes, ...faults], artifacts: artifacts.paths }, input.scope);
}

/** Who sits on the council: who was asked for, else the usual ones that are loaded; the settings may leave some out. */
function chooseMembers(task: CouncilTask): { members: Member[]; leftOut: SkippedBridge[] } {
  const { input } = task;
  const wanted = input.providers ?? usualRuntimes;
  const leftOut: SkippedBridge[] = [];
  const members = wanted.flatMap((provider) => {
    const reason = obstacleTo(provider, task);
    if (reason === null) return [{ bridge: provider, provider }];
    leftOut.push({ bridge: provider, reason });
    return [];
  });
  return { members, leftOut };
}

function endWith(report: CouncilReport, scope: string): Ending {
  const outputs = { ...report };
  const output = renderCouncil(report, { scope });
  if (report.status === "COMPLETED") return { status: "ok", output, outputs, connection: "native-dispatch" };
  return {
    status: "error",
    errorCode: errorCodeOf(report),
    error: `${report.abort_reason} ${report.skip_reasons.map(({ bridge, reason }) => `${bridge}: ${reason}.`).join(" ")}`.trim(),
    output,
    outputs,
    connection: "native-dispatch",
  };
}

/** A runtime that answered is available: its answers are invalid, not the connection. */
function errorCodeOf({ bridge_reports, skip_reasons }: CouncilReport): TaskErrorCode {
  if (bridge_reports.some(({ status }) => status === "ABORTED")) return "cancelled";
  return skip_reasons.some(({ reason }) => reason.startsWith("output_invalid")) ? "output_invalid" : "adapter_offline";
}
