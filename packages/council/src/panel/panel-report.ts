import { cut, type DomainRequest } from "../prompts/packet.ts";
import type { PanelReport } from "../reports/report.ts";
import { judge } from "../reports/verdict.ts";
import { type Confidence, confidences, type ReportStatus } from "../types.ts";
import type { Seat } from "./ask-roles.ts";
import { hasAnswers, isCanceled, type Panel, seatsOf } from "./panel.ts";

/** Returns the report of a panel that has ended, or that `options.skipReason` prevents from starting. */
export function createPanelReport(panel: Panel): PanelReport {
  const { skipReason } = panel.options;
  if (skipReason !== undefined) return { ...createEmptyReport(panel), skip_reason: skipReason };
  return hasAnswers(panel) && !isCanceled(panel) ? createCompletedReport(panel) : createFailedReport(panel);
}

function createCompletedReport(panel: Panel): PanelReport {
  const { debate, debateRounds, roles, options } = panel;
  const { outputs, withdrawn, disputed } = debate.conclude();
  const covered = new Set(roles.records.filter(({ answered }) => answered).map(({ domain }) => domain));
  const isIncomplete = roles.records.some(({ answered }) => !answered);
  return {
    ...createEmptyReport(panel),
    status: "COMPLETED",
    domains_covered: debate.activeDomains.filter((domain) => covered.has(domain)),
    debate_rounds: debateRounds,
    outputs,
    withdrawn_outputs: withdrawn,
    disputed_outputs: disputed,
    verdict: judge(options.input.taskType, outputs),
    confidence: confidenceOf(seatsOf(panel), isIncomplete),
    notes: [...roles.notes, ...describeOpenRequests(debate.openRequests)],
  };
}

function createFailedReport(panel: Panel): PanelReport {
  const { failures, records } = panel.roles;
  const failureWith = (status: ReportStatus) => failures.find(({ errorCode }) => statusOf(errorCode) === status);
  const decisive = failureWith("ABORTED") ?? failureWith("HALTED") ?? failures[0];
  const status = statusOf(decisive?.errorCode);
  const reason = decisive?.reason ?? records.find(({ answered }) => !answered)?.reason ?? "no role answered";
  return {
    ...createEmptyReport(panel),
    status,
    skip_reason: status === "SKIPPED" ? reason : null,
    halt_reason: status === "HALTED" ? (decisive?.errorCode ?? null) : null,
    halt_message: status === "HALTED" ? (decisive?.error ?? null) : null,
  };
}

function createEmptyReport(panel: Panel): PanelReport {
  const { options, roles } = panel;
  const { bridge, input } = options;
  const sizes = Object.fromEntries(roles.promptSizes.map((size, index) => [`prompt_size_chars_r${index + 1}`, size]));
  return {
    bridge,
    model_family: modelFamilyOf(bridge),
    connection_used: nameConnection(roles.connection),
    session_id: input.sessionId,
    task_type: input.taskType,
    capability_profile: options.profile,
    status: "SKIPPED",
    skip_reason: null,
    halt_reason: null,
    halt_message: null,
    domains_covered: [],
    debate_rounds: null,
    outputs: [],
    withdrawn_outputs: [],
    disputed_outputs: [],
    verdict: null,
    confidence: null,
    prompt_size_chars_r1: null,
    prompt_size_chars_r2: null,
    ...sizes,
    agents_spawned: seatsOf(panel).filter(({ isReached }) => isReached).length,
    model_validation_warnings: options.warnings ?? [],
    reasoning_level: options.reasoningLevel ?? null,
    roles: roles.records,
    notes: roles.notes,
    artifacts: [],
  };
}

const families: ReadonlyMap<string, string> = new Map([
  ["claude", "anthropic/claude"],
  ["gemini", "google/gemini"],
  ["codex", "openai/codex"],
  ["opencode", "multi-provider"],
]);

/** Returns the model vendor of a runtime. */
export const modelFamilyOf = (bridge: string): string => families.get(bridge) ?? "multi-provider";

/** Returns the name of a connection in the report. Other connections are reported as part of the runtime. */
export const nameConnection = (connection: string | undefined): string | null =>
  connection === undefined ? null : connection === "acp" || connection === "in-process" ? "native-dispatch" : connection;

/** Returns the report status for an error code: the user must act, the council was canceled, or the runtime is skipped. */
export function statusOf(errorCode: string | undefined): Exclude<ReportStatus, "COMPLETED"> {
  if (errorCode === "cancelled") return "ABORTED";
  return errorCode === "authentication_required" || errorCode === "user_action_required" ? "HALTED" : "SKIPPED";
}

/** Limits of a report: notes about requests, and characters of each reason. */
const OPEN_REQUESTS = { notes: 20, characters: 300 } as const;

/** Describes the requests that no expert received because no round was left. */
function describeOpenRequests(requests: readonly DomainRequest[]): string[] {
  const notes = requests.slice(0, OPEN_REQUESTS.notes).map(({ domain, from, finding_id, reason }) => {
    const what = finding_id === null ? "something" : finding_id;
    return `${from} asked the expert of ${domain} to look at ${what}, and no round was left: ${cut(reason, OPEN_REQUESTS.characters)}`;
  });
  const left = requests.length - notes.length;
  return left > 0 ? [...notes, `${left} more requests came when no round was left.`] : notes;
}

/** Returns the median confidence of the roles, one step lower if a role did not answer. */
function confidenceOf(seats: readonly Seat[], isIncomplete: boolean): Confidence {
  const reported = seats.flatMap(({ confidence }) => (confidence === null ? [] : [confidences.indexOf(confidence)])).sort();
  const middle = reported[Math.floor(reported.length / 2)] ?? confidences.indexOf("medium");
  return confidences[middle + (isIncomplete ? 1 : 0)] ?? "low";
}
