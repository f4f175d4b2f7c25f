import { consolidate, findConflicts, findGaps } from "./consolidate.ts";
import { areAlike, deduplicate, type Merge } from "./deduplicate.ts";
import { createIds } from "./ids.ts";
import { type AddedDomain, type ContextPacket, type DomainRequest, describeChallenge } from "./packet.ts";
import { type Answer, type AnsweredOutput, usualSeverity } from "./read-answer.ts";
import { type Challenge, CONSOLIDATION, CROSS_DOMAIN, type Output, severityRank } from "./words.ts";

/** A role in a debate: the domain that it speaks for, and its name. */
export interface Speaker {
  domain: string;
  agent: string;
}

/** An output, and when it came up. */
interface Finding extends Output {
  foundInRound: number;
  /** The role that may change it; null when it was taken over from another debate, and only the judge may. */
  owner: string | null;
}

/** Changes of one round. Without any there is no reason for another round. */
export interface RoundChanges {
  discovered: number;
  revised: number;
  withdrawn: number;
  challenged: number;
  defended: number;
}

/** One debate: its findings and challenges, and the rules by which answers change them. It asks no role itself; its caller passes the answers in. */
export interface Debate {
  /** Domains with an expert, in the order in which they came. */
  readonly activeDomains: readonly string[];
  /** Domains that were called for and have no expert yet. */
  readonly wantedDomains: readonly AddedDomain[];
  readonly changes: RoundChanges;
  /** True while a challenge waits for an answer of the expert, or an answer waits for the Challenger. */
  readonly hasUnsettled: boolean;
  /** Requests that an expert who takes part has not received yet. */
  readonly openRequests: readonly DomainRequest[];
  /** Outputs that were not withdrawn. */
  standing(): Output[];
  outputsOf(domain: string): Output[];
  challengesFor(domain: string): Challenge[];
  readonly challenges: readonly Challenge[];
  findOutput(id: string): Output | undefined;
  /** The requests of other roles to the expert of this domain. Each is returned once. */
  takeRequests(domain: string): DomainRequest[];
  /** Takes over outputs of other debates with their ids. A dispute that was left open there becomes an open challenge here. */
  take(outputs: readonly { output: Output; unresolved_challenge: string | null }[]): void;
  /** An independent answer of the first round. Returns its outputs with their ids. */
  hearFirst(speaker: Speaker, answer: Answer): Output[];
  /** The answer of an expert: decisions about its earlier outputs and the challenges to them, and new findings. Returns the new ones. */
  hearExpert(speaker: Speaker, answer: Answer): Output[];
  /** The Challenger's challenges. A defense that it has received and does not object to is accepted. */
  hearChallenger(speaker: Speaker, answer: Answer): { raised: Challenge[]; found: Output[] };
  /** Merges outputs that report the same in the same domain. The gravest one stays, and the id of the other one stands for it from then on. */
  mergeDuplicates(): Merge[];
  /** Begins a round; the wanted domains that are given become active. */
  beginRound(round: number, added: readonly AddedDomain[]): void;
  /** The packet of the round, without its findings. */
  describeRound(): Omit<ContextPacket, "previous_findings">;
  /** The end of the debate. */
  conclude(): { outputs: Output[]; withdrawn: Output[]; disputed: { output: Output; unresolved_challenge: string }[] };
}

/** Opens a debate between the experts of these domains; ids of outputs begin with the prefix. A judge decides about all outputs, not only its own. */
export function createDebate(domains: readonly string[], prefix: string, { judge }: { judge?: Speaker } = {}): Debate {
  const nextId = createIds(prefix);
  const nextChallengeId = createIds("CH");
  const findings = new Map<string, Finding>();
  const challenges = new Map<string, Challenge>();
  /** The ids of merged findings, and the finding that was kept. */
  const keptIds = new Map<string, string>();
  const active = [...domains];
  const wanted = new Map<string, AddedDomain>();
  let requests: DomainRequest[] = [];
  let latestAdded: readonly AddedDomain[] = [];
  let round = 1;
  let changes: RoundChanges = noChanges();

  const add = ({ domain, agent }: Speaker, answered: AnsweredOutput): Finding => {
    const { type, title, evidence, action } = answered;
    const severity = answered.severity ?? usualSeverity(type);
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
  /** Called when the findings of an answer have their ids: a signal may name one of them by its place or by the id that it had in the answer. */
  const hearSignals = (
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

  function hearFirst(speaker: Speaker, answer: Answer): Output[] {
    const outputs = answer.outputs.filter(({ title }) => title !== "");
    const found = outputs.map((output) => add(speaker, output));
    hearSignals(
      speaker,
      answer,
      found,
      outputs.map(({ ref }) => ref),
    );
    changes.discovered += found.length;
    return found;
  }

  function hearExpert(speaker: Speaker, answer: Answer): Output[] {
    const fresh: AnsweredOutput[] = [];
    for (const output of answer.outputs) {
      const own = output.ref === null ? undefined : find(output.ref);
      const mayDecide = own !== undefined && own.status !== "withdrawn" && (own.owner === seatOf(speaker) || isJudge(speaker));
      if (mayDecide) decide(own, output, isJudge(speaker));
      // The id of another role's output gives no right to change it: the text then stands as a finding of the speaker's own.
      else if (output.title !== "" && output.decision !== "withdrawn") fresh.push(output);
    }
    const found = fresh.filter((output) => !standing().some((known) => repeats(output, known, speaker)));
    const added = found.map((output) => add(speaker, output));
    hearSignals(
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
    // Where the role revises nothing, only a graver severity is a change: everything else may be a repetition in other words.
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

  function hearChallenger(speaker: Speaker, answer: Answer): { raised: Challenge[]; found: Output[] } {
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
      // A challenge that is repeated after an answer is maintained, whatever the Challenger calls it.
      else if (earlier.state === "defended" || earlier.state === "settled") {
        Object.assign(earlier, { maintained: true, state: "open", text } satisfies Partial<Challenge>);
        changes.challenged += 1;
      }
    }
    // The Challenger has received these defenses; those that it does not object to are accepted.
    for (const known of defended) if (known.state === "defended") known.state = "settled";
    return { raised, found: hearExpert(speaker, answer) };
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
    hearFirst,
    hearExpert,
    hearChallenger,
    mergeDuplicates() {
      const { merges } = deduplicate(standing().filter(({ owner }) => owner !== null));
      for (const { keptId, droppedId } of merges) {
        const [kept, dropped] = [findings.get(keptId), findings.get(droppedId)];
        if (kept === undefined || dropped === undefined) continue;
        if (dropped.foundInRound === round || kept.foundInRound === round) changes.discovered -= 1;
        if (dropped.foundInRound < kept.foundInRound) {
          // An earlier finding that is repeated more gravely is no discovery.
          Object.assign(kept, { foundInRound: dropped.foundInRound, status: "revised" } satisfies Partial<Finding>);
          changes.revised += 1;
        }
        findings.delete(droppedId);
        keptIds.set(droppedId, keptId);
        // A challenge to the merged finding is one to the finding that is kept.
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

/** Some observations are only possible when all findings are compared. */
const consolidation: Speaker = { domain: CROSS_DOMAIN, agent: CONSOLIDATION };

/** The challenge of a finding that is disputed without one. */
const UNDECIDED = "It is undecided whether this finding is right.";

/** True if the output only repeats what is known, at the same severity or a lower one. A graver repetition is merged, so that the graver one stays. */
const repeats = (output: AnsweredOutput, known: Finding, speaker: Speaker): boolean =>
  (known.domain === speaker.domain || known.owner === null) &&
  areAlike(known, output) &&
  severityRank(known.severity) <= severityRank(output.severity ?? usualSeverity(output.type));

function toOutput({ foundInRound: _, owner: __, ...output }: Finding): Output {
  return output;
}

/** One role is one domain's and has one name: two domains may be spoken for by experts of the same title. */
const seatOf = ({ domain, agent }: Speaker): string => `${domain}: ${agent}`;

const noChanges = (): RoundChanges => ({ discovered: 0, revised: 0, withdrawn: 0, challenged: 0, defended: 0 });
