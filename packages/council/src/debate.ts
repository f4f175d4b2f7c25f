import { consolidate, findConflicts, findGaps } from "./consolidate.ts";
import { areAlike, deduplicate, type Merge } from "./deduplicate.ts";
import { createIds } from "./ids.ts";
import { type AddedDomain, type ContextPacket, type DomainRequest, describeChallenge } from "./packet.ts";
import { type Answer, type AnsweredOutput, defaultSeverity } from "./read-answer.ts";
import { type Challenge, CONSOLIDATION, CROSS_DOMAIN, type Output, severityRank } from "./types.ts";

/** A role in a debate: its domain and its name. */
export interface Speaker {
  domain: string;
  agent: string;
}

/** An output with the round in which it was found. */
interface Finding extends Output {
  foundInRound: number;
  /** The role that may change it; null if it was imported from another debate, where only the judge may change it. */
  owner: string | null;
}

/** Number of changes in one round. Without changes the debate ends. */
export interface RoundChanges {
  discovered: number;
  revised: number;
  withdrawn: number;
  challenged: number;
  defended: number;
}

/**
 * One debate: its findings and challenges, and the rules by which answers change them. The caller asks the roles and
 * passes in their answers.
 */
export interface Debate {
  /** Domains with an expert, in the order in which they joined. */
  readonly activeDomains: readonly string[];
  /** Requested domains without an expert. */
  readonly wantedDomains: readonly AddedDomain[];
  readonly changes: RoundChanges;
  /** True while a challenge waits for the expert, or a defense waits for the Challenger. */
  readonly hasUnsettled: boolean;
  /** Requests that an active expert has not received yet. */
  readonly openRequests: readonly DomainRequest[];
  /** Outputs that were not withdrawn. */
  standing(): Output[];
  outputsOf(domain: string): Output[];
  challengesFor(domain: string): Challenge[];
  readonly challenges: readonly Challenge[];
  findOutput(id: string): Output | undefined;
  /** Returns the requests of other roles to the expert of a domain. Each is returned once. */
  takeRequests(domain: string): DomainRequest[];
  /** Imports outputs of other debates with their ids. A dispute that is open there becomes an open challenge here. */
  take(outputs: readonly { output: Output; unresolved_challenge: string | null }[]): void;
  /** Adds the answer of a role in the first round. Returns its outputs with their ids. */
  addOpeningAnswer(speaker: Speaker, answer: Answer): Output[];
  /** Applies the answer of an expert: its decisions about earlier outputs and challenges, and new findings. Returns the new ones. */
  applyAnswer(speaker: Speaker, answer: Answer): Output[];
  /** Applies the answer of the Challenger. A defense to which it does not object counts as accepted. */
  applyChallenges(speaker: Speaker, answer: Answer): { raised: Challenge[]; found: Output[] };
  /** Merges similar outputs of the same domain. The most severe one is kept, and the ids of the others refer to it from then on. */
  mergeDuplicates(): Merge[];
  /** Starts a round. The added domains become active. */
  beginRound(round: number, added: readonly AddedDomain[]): void;
  /** Returns the packet of the round without its findings. */
  describeRound(): Omit<ContextPacket, "previous_findings">;
  /** Result of the debate. */
  conclude(): { outputs: Output[]; withdrawn: Output[]; disputed: { output: Output; unresolved_challenge: string }[] };
}

/** Creates a debate between the experts of the domains. `prefix` starts the ids of outputs. A judge may decide about all outputs. */
export function createDebate(domains: readonly string[], prefix: string, { judge }: { judge?: Speaker } = {}): Debate {
  const nextId = createIds(prefix);
  const nextChallengeId = createIds("CH");
  const findings = new Map<string, Finding>();
  const challenges = new Map<string, Challenge>();
  /** Maps the id of a merged finding to the finding that was kept. */
  const keptIds = new Map<string, string>();
  const active = [...domains];
  const wanted = new Map<string, AddedDomain>();
  let requests: DomainRequest[] = [];
  let latestAdded: readonly AddedDomain[] = [];
  let round = 1;
  let changes: RoundChanges = noChanges();

  const add = ({ domain, agent }: Speaker, answered: AnsweredOutput): Finding => {
    const { type, title, evidence, action } = answered;
    const severity = answered.severity ?? defaultSeverity(type);
    const description = answered.description || title;
    const status = round === 1 ? "confirmed" : "discovered";
    const finding: Finding = {
      id: nextId(),
      type,
      severity,
      status,
      title,
      description,
      evidence,
      action,
      domain,
      agent,
      foundInRound: round,
      owner: seatOf({ domain, agent }),
    };
    findings.set(finding.id, finding);
    return finding;
  };
  const find = (id: string): Finding | undefined => {
    const keptId = keptIds.get(id);
    return keptId === undefined ? findings.get(id) : find(keptId);
  };
  /**
   * Adds the signals of an answer. Called after its findings have ids, because a signal may refer to one of them by its
   * id in the answer.
   */
  const addSignals = (
    { domain: own, agent: from }: Speaker,
    { signals }: Answer,
    found: readonly Output[],
    refs: readonly (string | null)[],
  ): void => {
    for (const { domain, reason, findingId } of signals) {
      if (domain === own || domain === CROSS_DOMAIN) continue;
      const place = findingId === null ? -1 : refs.indexOf(findingId);
      const known = findingId === null ? undefined : find(findingId)?.id;
      const finding_id = found[place]?.id ?? known ?? found[0]?.id ?? null;
      if (active.includes(domain) || wanted.has(domain)) requests.push({ domain, from, finding_id, reason });
      else wanted.set(domain, { domain, trigger_finding_id: finding_id, reason });
    }
  };
  const standing = (): Finding[] => [...findings.values()].filter(({ status }) => status !== "withdrawn");
  const isAboutStanding = ({ targetId }: Challenge): boolean => find(targetId)?.status !== "withdrawn";
  const isUnresolved = (challenge: Challenge): boolean =>
    isAboutStanding(challenge) && (challenge.state === "open" || (challenge.state === "defended" && challenge.maintained));
  const isUnsettled = (challenge: Challenge): boolean =>
    isAboutStanding(challenge) && (challenge.state === "open" || challenge.state === "defended");
  const isJudge = (speaker: Speaker): boolean => judge !== undefined && seatOf(judge) === seatOf(speaker);
  const challenge = (target: Finding, text: string, { isInherited = false } = {}): Challenge => {
    const { id: targetId, domain } = target;
    const raised: Challenge = {
      id: nextChallengeId(),
      targetId,
      text,
      domain,
      state: "open",
      response: null,
      maintained: false,
      isInherited,
    };
    challenges.set(raised.id, raised);
    return raised;
  };

  function addOpeningAnswer(speaker: Speaker, answer: Answer): Output[] {
    const outputs = answer.outputs.filter(({ title }) => title !== "");
    const found = outputs.map((output) => add(speaker, output));
    addSignals(
      speaker,
      answer,
      found,
      outputs.map(({ ref }) => ref),
    );
    changes.discovered += found.length;
    return found;
  }

  function applyAnswer(speaker: Speaker, answer: Answer): Output[] {
    const fresh: AnsweredOutput[] = [];
    for (const output of answer.outputs) {
      const own = output.ref === null ? undefined : find(output.ref);
      const mayDecide = own !== undefined && own.status !== "withdrawn" && (own.owner === seatOf(speaker) || isJudge(speaker));
      if (mayDecide) decide(own, output, isJudge(speaker));
      // A role may not change the output of another role; its text becomes a finding of the role itself.
      else if (output.title !== "" && output.decision !== "withdrawn") fresh.push(output);
    }
    const found = fresh.filter((output) => !standing().some((known) => repeats(output, known, speaker)));
    const added = found.map((output) => add(speaker, output));
    addSignals(
      speaker,
      answer,
      added,
      found.map(({ ref }) => ref),
    );
    changes.discovered += added.length;
    return added;
  }

  function decide(own: Finding, answered: AnsweredOutput, byJudge: boolean): void {
    const { decision, evidence, action } = answered;
    const title = answered.title || own.title;
    const description = answered.description || own.description;
    const severity = answered.severity ?? own.severity;
    const differs = title !== own.title || description !== own.description || severity !== own.severity;
    const concedes = decision === "withdrawn" || (decision === "revised" && differs);
    // Without a revision only a higher severity is a change; different words may be a repetition.
    const isGraver = (decision === null || decision === "confirmed") && severityRank(severity) < severityRank(own.severity);
    const isRevision = isGraver || (decision === "revised" && differs);
    const response = [description === own.description ? null : description, evidence === own.evidence ? null : evidence]
      .filter((text) => text !== null)
      .join("\n");
    if (isRevision) {
      // A revision changes only what it mentions.
      Object.assign(own, { title, description, severity, evidence: evidence ?? own.evidence, action: action ?? own.action });
      own.status = "revised";
      changes.revised += 1;
    }
    if (decision === "withdrawn") {
      own.status = "withdrawn";
      changes.withdrawn += 1;
    }
    const raised = [...challenges.values()].filter(({ targetId, state }) => find(targetId) === own && state !== "withdrawn");
    if (decision === "disputed" && byJudge) {
      if (raised.length === 0) {
        challenge(own, response || UNDECIDED);
        changes.challenged += 1;
      }
      for (const known of raised) known.state = "open";
    }
    if (decision === "disputed" || (decision === null && !isRevision)) return;
    for (const known of raised) {
      const isDefense = !byJudge && !concedes;
      if (isDefense && known.state === "open") changes.defended += 1;
      known.state = isDefense ? "defended" : "settled";
      known.response = response || null;
    }
  }

  function applyChallenges(speaker: Speaker, answer: Answer): { raised: Challenge[]; found: Output[] } {
    const raised: Challenge[] = [];
    const defended = [...challenges.values()].filter(({ state }) => state === "defended");
    for (const { ref, targetId, text, decision } of answer.challenges) {
      const target = find(targetId);
      if (target === undefined || target.status === "withdrawn" || target.owner === seatOf(speaker)) continue;
      const about = [...challenges.values()].filter((known) => find(known.targetId) === target && known.state !== "withdrawn");
      const earlier = about.find(({ id }) => id === ref) ?? about.find(({ isInherited }) => !isInherited);
      if (earlier === undefined) {
        if (decision !== "withdrawn") {
          raised.push(challenge(target, text));
          changes.challenged += 1;
        }
      } else if (decision === "withdrawn") earlier.state = "withdrawn";
      // A challenge that is repeated after an answer counts as maintained, whatever its status in the answer is.
      else if (earlier.state === "defended" || earlier.state === "settled") {
        Object.assign(earlier, { maintained: true, state: "open", text } satisfies Partial<Challenge>);
        changes.challenged += 1;
      }
    }
    // The Challenger has received these defenses and accepts those to which it does not object.
    for (const known of defended) if (known.state === "defended") known.state = "settled";
    return { raised, found: applyAnswer(speaker, answer) };
  }

  return {
    activeDomains: active,
    get wantedDomains() {
      return [...wanted.values()];
    },
    get changes() {
      return changes;
    },
    get hasUnsettled() {
      return [...challenges.values()].some(isUnsettled);
    },
    get openRequests() {
      return requests.filter(({ domain }) => active.includes(domain));
    },
    get challenges() {
      return [...challenges.values()];
    },
    standing: () => standing().map(toOutput),
    outputsOf: (domain) =>
      standing()
        .filter((finding) => finding.domain === domain)
        .map(toOutput),
    challengesFor: (domain) => [...challenges.values()].filter((challenge) => challenge.domain === domain && challenge.state === "open"),
    findOutput: find,
    takeRequests(domain) {
      const own = requests.filter((request) => request.domain === domain);
      requests = requests.filter((request) => request.domain !== domain);
      return own;
    },
    take(outputs) {
      for (const { output, unresolved_challenge } of outputs) {
        const isDisputed = output.status === "disputed";
        const finding: Finding = { ...output, status: isDisputed ? "confirmed" : output.status, foundInRound: round, owner: null };
        findings.set(finding.id, finding);
        if (isDisputed) challenge(finding, unresolved_challenge ?? UNDECIDED, { isInherited: true });
      }
    },
    addOpeningAnswer,
    applyAnswer,
    applyChallenges,
    mergeDuplicates() {
      const { merges } = deduplicate(standing().filter(({ owner }) => owner !== null));
      for (const { keptId, droppedId } of merges) {
        const [kept, dropped] = [findings.get(keptId), findings.get(droppedId)];
        if (kept === undefined || dropped === undefined) continue;
        if (dropped.foundInRound === round || kept.foundInRound === round) changes.discovered -= 1;
        if (dropped.foundInRound < kept.foundInRound) {
          // A repetition of an earlier finding with a higher severity is not a discovery.
          Object.assign(kept, { foundInRound: dropped.foundInRound, status: "revised" } satisfies Partial<Finding>);
          changes.revised += 1;
        }
        findings.delete(droppedId);
        keptIds.set(droppedId, keptId);
        // A challenge to the merged finding applies to the finding that is kept.
        for (const challenge of challenges.values()) if (challenge.targetId === droppedId) challenge.targetId = keptId;
      }
      return merges;
    },
    beginRound(next, added) {
      round = next;
      changes = noChanges();
      latestAdded = added;
      for (const { domain } of added) {
        active.push(domain);
        wanted.delete(domain);
      }
    },
    describeRound() {
      const known = standing();
      const open = [...challenges.values()].filter(({ state }) => state === "open");
      const conflicts = findConflicts(known);
      const gaps = findGaps(known, [...wanted.values()]);
      const words = [
        `Round ${round - 1}: ${known.length} findings stand.`,
        `${open.length} challenges are open.`,
        latestAdded.length === 0 ? "No domain was added." : `Added: ${latestAdded.map(({ domain }) => domain).join(", ")}.`,
        ...(conflicts.length > 0 ? [`${conflicts.length} conflicts between domains.`] : []),
        ...(gaps.length > 0 ? [`Gaps: ${gaps.join("; ")}.`] : []),
      ];
      return {
        round,
        active_domains: [...active],
        newly_added_domains: [...latestAdded],
        open_challenges: open.map(describeChallenge),
        conflicts: conflicts.slice(0, 20),
        gaps,
        synthesis: words.join(" "),
      };
    },
    conclude() {
      round += 1;
      for (const output of consolidate(standing(), [...wanted.values()])) add(consolidation, output);
      const unresolved = new Map<string, string>();
      for (const { targetId, text } of [...challenges.values()].filter(isUnresolved)) {
        const earlier = unresolved.get(targetId);
        unresolved.set(targetId, earlier === undefined ? text : `${earlier}\n${text}`);
      }
      const outputs: Output[] = standing().map((finding) => {
        const output = toOutput(finding);
        return unresolved.has(output.id) ? { ...output, status: "disputed" } : output;
      });
      return {
        outputs,
        withdrawn: [...findings.values()].filter(({ status }) => status === "withdrawn").map(toOutput),
        disputed: outputs.flatMap((output) => {
          const unresolved_challenge = unresolved.get(output.id);
          return unresolved_challenge === undefined ? [] : [{ output, unresolved_challenge }];
        }),
      };
    },
  };
}

/** Observations of this agent result from comparing all findings. */
const consolidation: Speaker = { domain: CROSS_DOMAIN, agent: CONSOLIDATION };

/** Challenge text of a finding that is disputed without a challenge. */
const UNDECIDED = "It is undecided whether this finding is right.";

/**
 * Returns whether the output repeats a known finding at the same or a lower severity. A repetition with a higher
 * severity is merged instead.
 */
const repeats = (output: AnsweredOutput, known: Finding, speaker: Speaker): boolean =>
  (known.domain === speaker.domain || known.owner === null) &&
  areAlike(known, output) &&
  severityRank(known.severity) <= severityRank(output.severity ?? defaultSeverity(output.type));

function toOutput({ foundInRound: _, owner: __, ...output }: Finding): Output {
  return output;
}

/** Key of a role: domain and name, because experts of two domains may have the same title. */
const seatOf = ({ domain, agent }: Speaker): string => `${domain}: ${agent}`;

const noChanges = (): RoundChanges => ({ discovered: 0, revised: 0, withdrawn: 0, challenged: 0, defended: 0 });
