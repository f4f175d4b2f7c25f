import { type Answer, type AnsweredOutput, defaultSeverityOf } from "../prompts/read-answer.ts";
import { type Output, rankSeverity } from "../types.ts";
import { UNDECIDED } from "./challenges.ts";
import type { DebateState } from "./debate-state.ts";
import { areAlike } from "./deduplicate.ts";
import { type Finding, keyOf, type Speaker } from "./findings.ts";

/** Adds the answer of a role in the first round. Returns its outputs with their ids. */
export const applyOpeningAnswer = (state: DebateState, speaker: Speaker, answer: Answer): Output[] =>
  addOutputs(
    state,
    speaker,
    answer,
    answer.outputs.filter(({ title }) => title !== ""),
  );

/** Applies the answer of an expert: its decisions about earlier outputs and challenges, and new findings. Returns the new ones. */
export function applyAnswer(state: DebateState, speaker: Speaker, answer: Answer): Output[] {
  const { findings, judge } = state;
  const isJudge = judge !== null && keyOf(judge) === keyOf(speaker);
  const newOutputs: AnsweredOutput[] = [];
  for (const output of answer.outputs) {
    const known = output.ref === null ? undefined : findings.find(output.ref);
    const mayDecide = known !== undefined && known.status !== "withdrawn" && (known.owner === keyOf(speaker) || isJudge);
    if (mayDecide) decide(state, known, output, isJudge);
    // A role may not change the output of another role; its text becomes a finding of the role itself.
    else if (output.title !== "" && output.decision !== "withdrawn") newOutputs.push(output);
  }
  const standing = findings.listStanding();
  return addOutputs(
    state,
    speaker,
    answer,
    newOutputs.filter((output) => !standing.some((known) => repeats(output, known, speaker))),
  );
}

/** Adds outputs as findings, and then the signals of the answer, which may refer to an output by its id in the answer. */
function addOutputs(
  { findings, domains, changes, round }: DebateState,
  speaker: Speaker,
  { signals }: Answer,
  outputs: readonly AnsweredOutput[],
): Output[] {
  const added = outputs.map((output) => findings.add(speaker, output, round));
  const idOf = (ref: string): string | undefined => added[outputs.findIndex((output) => output.ref === ref)]?.id ?? findings.find(ref)?.id;
  for (const signal of signals) {
    const findingId = signal.findingId === null ? undefined : idOf(signal.findingId);
    domains.recordSignal(speaker, signal, findingId ?? added[0]?.id ?? null);
  }
  changes.discovered += added.length;
  return added;
}

/** Applies the decision of a role about an earlier finding, also to the challenges to it. */
function decide({ challenges, changes }: DebateState, finding: Finding, answered: AnsweredOutput, isJudge: boolean): void {
  const { decision } = answered;
  const response = extractResponse(finding, answered);
  const isRevision = revise(finding, answered);
  if (isRevision) changes.revised += 1;
  if (decision === "withdrawn") {
    finding.status = "withdrawn";
    changes.withdrawn += 1;
  }
  const raised = challenges.listAgainst(finding);
  if (decision === "disputed" && isJudge) {
    if (raised.length === 0) {
      challenges.raise(finding, response || UNDECIDED);
      changes.challenged += 1;
    }
    for (const challenge of raised) challenge.state = "open";
  }
  if (decision === "disputed" || (decision === null && !isRevision)) return;
  const concedes = decision === "withdrawn" || (decision === "revised" && isRevision);
  const isDefense = !isJudge && !concedes;
  for (const challenge of raised) {
    if (isDefense && challenge.state === "open") changes.defended += 1;
    challenge.state = isDefense ? "defended" : "settled";
    challenge.response = response || null;
  }
}

/** Returns the parts of an answer that differ from the finding. */
const extractResponse = (finding: Finding, { description, evidence }: AnsweredOutput): string =>
  [(description || finding.description) === finding.description ? null : description, evidence === finding.evidence ? null : evidence]
    .filter((text) => text !== null)
    .join("\n");

/** Changes the parts of a finding that the answer mentions. Returns false if the answer is no revision. */
function revise(finding: Finding, { decision, evidence, action, ...answered }: AnsweredOutput): boolean {
  const title = answered.title || finding.title;
  const description = answered.description || finding.description;
  const severity = answered.severity ?? finding.severity;
  const differs = title !== finding.title || description !== finding.description || severity !== finding.severity;
  // Without a revision only a higher severity is a change; different words may be a repetition.
  const isMoreSevere = (decision === null || decision === "confirmed") && rankSeverity(severity) < rankSeverity(finding.severity);
  const isRevision = isMoreSevere || (decision === "revised" && differs);
  if (isRevision)
    Object.assign(finding, {
      title,
      description,
      severity,
      evidence: evidence ?? finding.evidence,
      action: action ?? finding.action,
      status: "revised",
    } satisfies Partial<Finding>);
  return isRevision;
}

/**
 * Returns whether the output repeats a known finding at the same or a lower severity. A repetition with a higher
 * severity is merged instead.
 */
const repeats = (output: AnsweredOutput, known: Finding, speaker: Speaker): boolean =>
  (known.domain === speaker.domain || known.owner === null) &&
  areAlike(known, output) &&
  rankSeverity(known.severity) <= rankSeverity(output.severity ?? defaultSeverityOf(output.type));
