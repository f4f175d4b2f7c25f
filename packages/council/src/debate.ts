import { consolidate, findConflicts, findGaps } from "./consolidate.ts";
import { areAlike, deduplicate, type Merge } from "./deduplicate.ts";
import { createIds } from "./ids.ts";
import { type AddedDomain, type ContextPacket, describeChallenge } from "./packet.ts";
import { type Answer, type AnsweredOutput, usualSeverity } from "./read-answer.ts";
import { type Challenge, CROSS_DOMAIN, type Output } from "./words.ts";

/** Who has said something: the domain that the role speaks for, and its name. */
export interface Speaker {
  domain: string;
  agent: string;
}

/** An output, and when it came up. */
interface Finding extends Output {
  foundInRound: number;
  /** The role that may change it. */
  owner: string;
}

/** What one round has changed; when nothing did, there is no reason for another one. */
export interface RoundChanges {
  discovered: number;
  revised: number;
  withdrawn: number;
  challenged: number;
}

/** One debate: what has been said so far, and by which rules it changes. It asks nobody; whoever asks tells it the answers. */
export interface Debate {
  /** Domains with an expert, in the order in which they came. */
  readonly activeDomains: readonly string[];
  /** Domains that were called for and have no expert yet. */
  readonly wantedDomains: readonly AddedDomain[];
  readonly changes: RoundChanges;
  /** Is there a challenge that nobody has answered, or that the Challenger stays with? */
  readonly hasUnresolved: boolean;
  /** Outputs that were not withdrawn. */
  standing(): Output[];
  outputsOf(domain: string): Output[];
  challengesFor(domain: string): Challenge[];
  readonly challenges: readonly Challenge[];
  findOutput(id: string): Output | undefined;
  /** Takes over outputs of other debates, under the ids that they have; `owner` is the role that answers for them. */
  take(outputs: readonly Output[], owner: Speaker): void;
  /** Independent answers of the first round. Returns the outputs as they are now known. */
  hearFirst(speaker: Speaker, answer: Answer): Output[];
  /** What an expert says of its earlier outputs and of challenges to them, and what it has found beside. */
  hearExpert(speaker: Speaker, answer: Answer): Output[];
  /** What the Challenger objects to. */
  hearChallenger(speaker: Speaker, answer: Answer): { raised: Challenge[]; found: Output[] };
  /** Takes out what was said twice. */
  mergeDuplicates(): Merge[];
  /** Begins a round; the wanted domains that are given become active. */
  beginRound(round: number, added: readonly AddedDomain[]): void;
  /** The packet of the round, without its findings. */
  describeRound(): Omit<ContextPacket, "previous_findings">;
  /** How it ended. */
  conclude(): { outputs: Output[]; withdrawn: Output[]; disputed: { output: Output; unresolved_challenge: string }[] };
}

/** Opens a debate between the experts of these domains; ids of outputs begin with the prefix. */
export function createDebate(domains: readonly string[], prefix: string): Debate {
  const nextId = createIds(prefix);
  const nextChallengeId = createIds("CH");
  const findings = new Map<string, Finding>();
  const challenges = new Map<string, Challenge>();
  const active = [...domains];
  const wanted = new Map<string, AddedDomain>();
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
  /** Called once what an answer found has its ids: a signal may name one of them by the place or the id it had in the answer. */
  const hearSignals = ({ signals }: Answer, found: readonly Output[], refs: readonly (string | null)[]): void => {
    for (const { domain, reason, findingId } of signals) {
      if (active.includes(domain) || wanted.has(domain) || domain === CROSS_DOMAIN) continue;
      const place = findingId === null ? -1 : refs.indexOf(findingId);
      const known = findingId !== null && findings.has(findingId) ? findingId : undefined;
      wanted.set(domain, { domain, trigger_finding_id: found[place]?.id ?? known ?? found[0]?.id ?? null, reason });
    }
  };
  const standing = (): Finding[] => [...findings.values()].filter(({ status }) => status !== "withdrawn");
  const isUnresolved = ({ state, maintained, targetId }: Challenge): boolean =>
    findings.get(targetId)?.status !== "withdrawn" && (state === "open" || (state === "defended" && maintained));

  function hearFirst(speaker: Speaker, answer: Answer): Output[] {
    const outputs = answer.outputs.filter(({ title }) => title !== "");
    const found = outputs.map((output) => add(speaker, output));
    hearSignals(
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
      const own = output.ref === null ? undefined : findings.get(output.ref);
      // An id of somebody else's output is no right to change it: what was said then stands by itself.
      if (own === undefined || own.owner !== seatOf(speaker) || own.status === "withdrawn") {
        if (output.title !== "" && output.decision !== "withdrawn") fresh.push(output);
      } else decide(own, output);
    }
    const found = fresh.filter((output) => !standing().some((known) => known.domain === speaker.domain && areAlike(known, output)));
    const added = found.map((output) => add(speaker, output));
    hearSignals(
      answer,
      added,
      found.map(({ ref }) => ref),
    );
    changes.discovered += added.length;
    return added;
  }

  function decide(own: Finding, { decision, evidence, action, ...said }: AnsweredOutput): void {
    // What a revision does not mention stays as it is.
    const title = said.title || own.title;
    const description = said.description || own.description;
    const severity = said.severity ?? own.severity;
    const differs = title !== own.title || description !== own.description || severity !== own.severity;
    const isRevision = decision === "revised" && differs;
    const response = [description === own.description ? null : description, evidence === own.evidence ? null : evidence]
      .filter((text) => text !== null)
      .join("\n");
    if (isRevision) {
      Object.assign(own, { title, description, severity, evidence: evidence ?? own.evidence, action: action ?? own.action });
      own.status = "revised";
      changes.revised += 1;
    }
    if (decision === "withdrawn") {
      own.status = "withdrawn";
      changes.withdrawn += 1;
    }
    if (decision === null) return;
    for (const challenge of challenges.values()) {
      if (challenge.targetId !== own.id || challenge.state === "withdrawn") continue;
      challenge.state = isRevision || decision === "withdrawn" ? "settled" : "defended";
      challenge.response = response || null;
    }
  }

  function hearChallenger(speaker: Speaker, answer: Answer): { raised: Challenge[]; found: Output[] } {
    const raised: Challenge[] = [];
    for (const { ref, targetId, text, decision } of answer.challenges) {
      const target = findings.get(targetId);
      const earlier =
        (ref === null ? undefined : challenges.get(ref)) ?? [...challenges.values()].find((known) => known.targetId === targetId);
      if (target === undefined || target.status === "withdrawn" || target.owner === seatOf(speaker)) continue;
      if (earlier !== undefined && earlier.targetId === targetId) {
        if (decision === "withdrawn") earlier.state = "withdrawn";
        // Said again after a defence, it is maintained, whatever it is called.
        else if (earlier.state === "defended") {
          earlier.maintained = true;
          earlier.state = "open";
          earlier.text = text;
          changes.challenged += 1;
        }
      } else if (decision !== "withdrawn") {
        const challenge: Challenge = {
          id: nextChallengeId(),
          targetId,
          text,
          domain: target.domain,
          state: "open",
          response: null,
          maintained: false,
          raisedInRound: round,
        };
        challenges.set(challenge.id, challenge);
        raised.push(challenge);
        changes.challenged += 1;
      }
    }
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
    get hasUnresolved() {
      return [...challenges.values()].some(isUnresolved);
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
    findOutput: (id) => findings.get(id),
    take(outputs, owner) {
      for (const output of outputs) findings.set(output.id, { ...output, foundInRound: round, owner: seatOf(owner) });
    },
    hearFirst,
    hearExpert,
    hearChallenger,
    mergeDuplicates() {
      const { merges } = deduplicate(standing());
      for (const { keptId, droppedId } of merges) {
        if (findings.get(droppedId)?.foundInRound === round) changes.discovered -= 1;
        findings.delete(droppedId);
        // An objection to what is gone is one to what is said in its place.
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
      const unresolved = new Map([...challenges.values()].filter(isUnresolved).map(({ targetId, text }) => [targetId, text]));
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

/** Who says what only shows when everything is seen together. */
const consolidation: Speaker = { domain: CROSS_DOMAIN, agent: "consolidation" };

function toOutput({ foundInRound: _, owner: __, ...output }: Finding): Output {
  return output;
}

/** One role is one domain's and has one name: two domains may be spoken for by experts of the same title. */
const seatOf = ({ domain, agent }: Speaker): string => `${domain}: ${agent}`;

const noChanges = (): RoundChanges => ({ discovered: 0, revised: 0, withdrawn: 0, challenged: 0 });
