import type { AddedDomain, ContextPacket, DomainRequest } from "../prompts/packet.ts";
import type { Answer } from "../prompts/read-answer.ts";
import { type Challenge, CONSOLIDATION, CROSS_DOMAIN, type Output } from "../types.ts";
import { applyAnswer, applyOpeningAnswer } from "./apply-answer.ts";
import { applyChallenges } from "./apply-challenges.ts";
import { createChallenges, UNDECIDED } from "./challenges.ts";
import { consolidate } from "./consolidate.ts";
import { createDebateDomains } from "./debate-domains.ts";
import type { DebateState, RoundChanges } from "./debate-state.ts";
import { deduplicate, type Merge } from "./deduplicate.ts";
import { describeRound } from "./describe-round.ts";
import { createFindings, type Finding, type Speaker, toOutput } from "./findings.ts";

/** One debate: its findings and challenges, and the rules by which answers change them. */
export type Debate = ReturnType<typeof createDebate>;

/** An output with the challenge on which its debate did not agree; null if there is none. */
interface ImportedOutput {
  output: Output;
  unresolved_challenge: string | null;
}

/** Result of a debate. */
export interface DebateResult {
  outputs: Output[];
  withdrawn: Output[];
  disputed: { output: Output; unresolved_challenge: string }[];
}

/**
 * Creates a debate between the experts of the domains. The caller asks the roles and passes in their answers. `prefix`
 * starts the ids of outputs. A judge may decide about all outputs.
 */
export function createDebate(initialDomains: readonly string[], prefix: string, { judge }: { judge?: Speaker } = {}) {
  const findings = createFindings(prefix);
  const challenges = createChallenges(findings);
  const domains = createDebateDomains(initialDomains);
  const state: DebateState = { findings, challenges, domains, judge: judge ?? null, round: 1, changes: createRoundChanges() };

  return {
    /** Domains with an expert, in the order in which they joined. */
    activeDomains: domains.active,
    challenges: challenges.all,
    /** Requested domains without an expert. */
    get wantedDomains(): readonly AddedDomain[] {
      return domains.listWanted();
    },
    get changes(): RoundChanges {
      return state.changes;
    },
    /** True while a challenge waits for the expert, or a defense waits for the Challenger. */
    get hasUnsettled(): boolean {
      return challenges.listUnsettled().length > 0;
    },
    /** Requests that an active expert has not received yet. */
    get openRequests(): readonly DomainRequest[] {
      return domains.listOpenRequests();
    },
    /** Returns the outputs that were not withdrawn. */
    listStanding: (): Output[] => findings.listStanding().map(toOutput),
    /** Returns the outputs of a domain that were not withdrawn. */
    listOutputs: (domain: string): Output[] =>
      findings
        .listStanding()
        .filter((finding) => finding.domain === domain)
        .map(toOutput),
    /** Returns the open challenges that the expert of a domain must answer. */
    listOpenChallenges: (domain: string): Challenge[] => challenges.listOpen().filter((challenge) => challenge.domain === domain),
    findOutput: (id: string): Output | undefined => findings.find(id),
    /** Returns the requests of other roles to the expert of a domain. Each is returned once. */
    takeRequests: (domain: string): DomainRequest[] => domains.takeRequests(domain),
    /** Imports outputs of other debates with their ids. A dispute that is open there becomes an open challenge here. */
    importOutputs: (outputs: readonly ImportedOutput[]): void => importOutputs(state, outputs),
    /** Applies the answer of a role in the first round. Returns its outputs with their ids. */
    applyOpeningAnswer: (speaker: Speaker, answer: Answer): Output[] => applyOpeningAnswer(state, speaker, answer),
    /** Applies the answer of an expert: its decisions about earlier outputs and challenges, and new findings. Returns the new ones. */
    applyAnswer: (speaker: Speaker, answer: Answer): Output[] => applyAnswer(state, speaker, answer),
    /** Applies the answer of the Challenger. A defense to which it does not object counts as accepted. */
    applyChallenges: (speaker: Speaker, answer: Answer): { raised: Challenge[]; found: Output[] } =>
      applyChallenges(state, speaker, answer),
    /** Merges similar outputs of the same domain. The most severe one is kept, and the ids of the others refer to it from then on. */
    mergeDuplicates: (): Merge[] => mergeDuplicates(state),
    /** Starts a round. The added domains become active. */
    beginRound(round: number, added: readonly AddedDomain[]): void {
      state.round = round;
      state.changes = createRoundChanges();
      domains.activate(added);
    },
    /** Returns the packet of the round without its findings. */
    describeRound: (): Omit<ContextPacket, "previous_findings"> => describeRound(state),
    /** Ends the debate and returns its result. */
    conclude: (): DebateResult => conclude(state),
  };
}

/**
 * Returns whether the debate ends: nothing changed in the last round, or every challenge is settled and the Challenger
 * has seen every finding. A requested domain without an expert, or an open request to an expert, continues the debate.
 */
export function hasEnded({
  changes,
  hasUnsettled,
  openRequests,
  wantedDomains,
}: Pick<Debate, "changes" | "hasUnsettled" | "openRequests" | "wantedDomains">): boolean {
  if (wantedDomains.length > 0 || openRequests.length > 0) return false;
  const hasChanged = Object.values(changes).some((count) => count > 0);
  return !hasChanged || (!hasUnsettled && changes.discovered === 0);
}

const createRoundChanges = (): RoundChanges => ({ discovered: 0, revised: 0, withdrawn: 0, challenged: 0, defended: 0 });

function importOutputs({ findings, challenges, round }: DebateState, outputs: readonly ImportedOutput[]): void {
  for (const { output, unresolved_challenge } of outputs) {
    const isDisputed = output.status === "disputed";
    const finding: Finding = { ...output, status: isDisputed ? "confirmed" : output.status, foundInRound: round, owner: null };
    findings.import(finding);
    if (isDisputed) challenges.raise(finding, unresolved_challenge ?? UNDECIDED, { isInherited: true });
  }
}

function mergeDuplicates({ findings, challenges, changes, round }: DebateState): Merge[] {
  const { merges } = deduplicate(findings.listStanding().filter(({ owner }) => owner !== null));
  for (const { keptId, droppedId } of merges) {
    const [kept, dropped] = [findings.find(keptId), findings.find(droppedId)];
    if (kept === undefined || dropped === undefined) continue;
    if (dropped.foundInRound === round || kept.foundInRound === round) changes.discovered -= 1;
    if (dropped.foundInRound < kept.foundInRound) {
      // A repetition of an earlier finding with a higher severity is not a discovery.
      Object.assign(kept, { foundInRound: dropped.foundInRound, status: "revised" } satisfies Partial<Finding>);
      changes.revised += 1;
    }
    findings.replace(dropped, kept);
    challenges.redirect(dropped, kept);
  }
  return merges;
}

function conclude(state: DebateState): DebateResult {
  const { findings, challenges, domains } = state;
  state.round += 1;
  for (const observation of consolidate(findings.listStanding(), domains.listWanted()))
    findings.add(consolidation, observation, state.round);
  const unresolved = new Map<string, string>();
  for (const { targetId, text } of challenges.listUnresolved()) {
    const earlier = unresolved.get(targetId);
    unresolved.set(targetId, earlier === undefined ? text : `${earlier}\n${text}`);
  }
  const outputs: Output[] = findings.listStanding().map((finding) => {
    const output = toOutput(finding);
    return unresolved.has(output.id) ? { ...output, status: "disputed" } : output;
  });
  return {
    outputs,
    withdrawn: findings.listWithdrawn().map(toOutput),
    disputed: outputs.flatMap((output) => {
      const unresolved_challenge = unresolved.get(output.id);
      return unresolved_challenge === undefined ? [] : [{ output, unresolved_challenge }];
    }),
  };
}

/** Observations of this agent result from comparing all findings. */
const consolidation: Speaker = { domain: CROSS_DOMAIN, agent: CONSOLIDATION };
