import { createRoles, type ExpertSeat, type Failure, type Seat, seat } from "./ask-roles.ts";
import type { BridgeOptions } from "./bridge-options.ts";
import { createDebate, hasEnded } from "./debate/debate.ts";
import { findExpert } from "./domains/find-expert.ts";
import { estimateTimeoutSeconds, measureScope } from "./estimate-timeout.ts";
import { prefixOf } from "./ids.ts";
import { type CouncilInput, MAX_DOMAINS } from "./input.ts";
import {
  type AddedDomain,
  CONTEXT_LIMIT_CHARACTERS,
  cut,
  type DomainRequest,
  describeHistory,
  describeRequests,
  type FittedPacket,
  fitPacket,
} from "./packet.ts";
import {
  challengerPrompt,
  challengerRole,
  expertPrompt,
  integrationPrompt,
  integrationRole,
  newcomerPrompt,
  openingPrompt,
} from "./prompts.ts";
import type { Answer } from "./read-answer.ts";
import { type BridgeReport, connectionWord, modelFamilyOf, statusOf } from "./report.ts";
import { type Confidence, confidences, type Intensity, type Output } from "./types.ts";
import { judge } from "./verdict.ts";

/** Maximum number of debate rounds after the first round. */
const maxDebateRounds: Readonly<Record<Intensity, number>> = { quick: 0, standard: 1, thorough: 3 };

/** Returns the number of prompts of a council on one runtime if no domain is added and every answer is valid. */
export const plannedRuns = ({ domains, intensity }: Pick<CouncilInput, "domains" | "intensity">): number =>
  (domains.length + 2) * (1 + maxDebateRounds[intensity]);

/** Runs a council on one runtime: experts report findings, challenge and defend them. Returns the report. */
export async function runBridge(options: BridgeOptions): Promise<BridgeReport> {
  const { bridge, input, spending, log, onProgress } = options;
  const debate = createDebate(input.domains, options.idPrefix ?? prefixOf(bridge));
  const experts = new Map<string, ExpertSeat>(input.domains.map((domain) => [domain, seat(findExpert(domain))]));
  const challenger = seat(challengerRole);
  const integration = seat(integrationRole);
  const callSeconds = estimateTimeoutSeconds(measureScope(input.scope), input.intensity, options.timeoutMultiplier);
  const runtime = { provider: options.provider, ...(options.model === undefined ? {} : { model: options.model }) };
  const roles = createRoles({ ...options, runtimeOf: () => runtime }, callSeconds);
  const { records, failures } = roles;
  let debateRounds = 0;
  let isLastPhase = maxDebateRounds[input.intensity] === 0;

  /** Asks roles concurrently and applies each answer when it arrives. */
  async function askConcurrently(
    round: number,
    phase: string,
    turns: readonly { who: Seat; prompt: string; apply(answer: Answer): Output[] }[],
  ): Promise<void> {
    let done = 0;
    await Promise.all(
      turns.map(async ({ who, prompt, apply }) => {
        const answer = await roles.ask(who, prompt, { round, isLastPhase });
        const found = answer === null ? [] : apply(answer);
        done += 1;
        for (const { id, severity, title, domain } of found) log({ event: "output", id, severity, title, domain, round });
        const { provider } = options;
        onProgress({ phase, provider, round, role: who.role.title, domain: who.role.domain, done, of: turns.length });
        for (const { id, severity, title, domain } of found) onProgress({ phase: "finding", provider, round, id, severity, title, domain });
      }),
    );
    for (const merge of debate.mergeDuplicates()) log({ event: "merge", kept: merge.keptId, dropped: merge.droppedId, round });
  }

  if (options.skipReason !== undefined) return { ...emptyReport(), skip_reason: options.skipReason };
  log({ event: "preflight", step: "timeout_estimate", value_seconds: callSeconds });
  log({ event: "dispatch", mode: "multi-agent", domains: input.domains });
  await askConcurrently(
    1,
    "analysis",
    [...experts.values(), challenger, integration].map((who) => ({
      who,
      prompt: openingPrompt(who.role, input),
      apply: (answer) => debate.applyOpeningAnswer(who.speaker, answer),
    })),
  );
  const hasAnswers = (inRound?: number): boolean => records.some(({ answered, round }) => answered && (inRound ?? round) === round);
  if (hasAnswers() && debate.standing().length > 0) {
    while (debateRounds < maxDebateRounds[input.intensity] && options.secondsLeft() >= 1 && !failures.some(isCancelled)) {
      const round = debateRounds + 2;
      await holdDebateRound(round);
      // A round without answers does not count, and the next one would have no answers either.
      if (!hasAnswers(round)) break;
      debateRounds += 1;
      if (hasEnded(debate)) break;
    }
  }
  return hasAnswers() && !failures.some(isCancelled) ? completedReport() : failedReport();

  async function holdDebateRound(round: number): Promise<void> {
    const room = Math.min(spending.left - (debate.activeDomains.length + 2), MAX_DOMAINS - debate.activeDomains.length);
    const added = debate.wantedDomains.slice(0, Math.max(0, room));
    const existing = [...experts.values()];
    debate.beginRound(round, added);
    for (const { domain, reason } of added) {
      experts.set(domain, seat(findExpert(domain)));
      log({ event: "domain_added", domain, reason, round });
    }
    const history = describeHistory(debate.challenges);
    const before = readDebate();
    const packet = before.packetFor();
    const own = debate.standing().filter(({ agent }) => agent === integrationRole.title);
    const challenges = debate.challenges.filter(({ state, targetId }) => state === "open" && own.some(({ id }) => id === targetId));
    await askConcurrently(round, "challenge", [
      {
        who: challenger,
        prompt: challengerPrompt(input, {
          packet: before.packetFor(JSON.stringify(history).length),
          history,
          hasSession: challenger.session !== undefined,
        }),
        apply(answer) {
          const { raised, found } = debate.applyChallenges(challenger.speaker, answer);
          for (const { id, targetId, text } of raised) log({ event: "challenge", id, target: targetId, text, round });
          return found;
        },
      },
      {
        who: integration,
        prompt: integrationPrompt(input, { packet, own, challenges, hasSession: integration.session !== undefined }),
        apply: (answer) => debate.applyAnswer(integration.speaker, answer),
      },
    ]);
    const answered = readDebate();
    isLastPhase = round - 1 === maxDebateRounds[input.intensity];
    await askConcurrently(round, "response", [
      ...existing.map((who) => existingExpertTurn(who, answered)),
      ...added.map((domain) => newExpertTurn(domain, answered)),
    ]);
  }

  function existingExpertTurn(who: ExpertSeat, { packetFor }: DebateView) {
    const requests = describeRequests(debate.takeRequests(who.role.domain));
    return {
      who,
      prompt: expertPrompt(who.role, input, {
        packet: packetFor(sizeOf(requests)),
        own: debate.outputsOf(who.role.domain),
        challenges: debate.challengesFor(who.role.domain),
        requests,
        hasSession: who.session !== undefined,
      }),
      apply: (answer: Answer) => debate.applyAnswer(who.speaker, answer),
    };
  }

  function newExpertTurn(added: AddedDomain, { packetFor }: DebateView) {
    const who = experts.get(added.domain) ?? seat(findExpert(added.domain));
    const trigger = added.trigger_finding_id === null ? undefined : debate.findOutput(added.trigger_finding_id);
    const requests = describeRequests(debate.takeRequests(added.domain));
    return {
      who,
      prompt: newcomerPrompt(who.role, input, { added, trigger, requests, packet: packetFor(sizeOf(requests)) }),
      apply: (answer: Answer) => debate.applyAnswer(who.speaker, answer),
    };
  }

  /** Returns a view of the current state of the debate for the prompts of a round. */
  function readDebate(): DebateView {
    const [described, standing] = [debate.describeRound(), debate.standing()];
    const whole = fitPacket(described, standing, CONTEXT_LIMIT_CHARACTERS);
    return {
      packetFor: (takenCharacters = 0) =>
        takenCharacters === 0 ? whole : fitPacket(described, standing, CONTEXT_LIMIT_CHARACTERS - takenCharacters),
    };
  }

  function completedReport(): BridgeReport {
    const { outputs, withdrawn, disputed } = debate.conclude();
    const covered = new Set(records.filter(({ answered }) => answered).map(({ domain }) => domain));
    return {
      ...emptyReport(),
      status: "COMPLETED",
      domains_covered: debate.activeDomains.filter((domain) => covered.has(domain)),
      debate_rounds: debateRounds,
      outputs,
      withdrawn_outputs: withdrawn,
      disputed_outputs: disputed,
      verdict: judge(input.taskType, outputs),
      confidence: confidenceOf(
        [...experts.values(), challenger, integration],
        records.some(({ answered }) => !answered),
      ),
      notes: [...roles.notes, ...describeOpenRequests(debate.openRequests)],
    };
  }

  function failedReport(): BridgeReport {
    const decisive = failures.find(isCancelled) ?? failures.find(({ errorCode }) => statusOf(errorCode) === "HALTED") ?? failures[0];
    const status = statusOf(decisive?.errorCode);
    const reason = decisive?.reason ?? records.find(({ answered }) => !answered)?.reason ?? "no role answered";
    return {
      ...emptyReport(),
      status,
      skip_reason: status === "SKIPPED" ? reason : null,
      halt_reason: status === "HALTED" ? (decisive?.errorCode ?? null) : null,
      halt_message: status === "HALTED" ? (decisive?.error ?? null) : null,
    };
  }

  function emptyReport(): BridgeReport {
    const sizes = Object.fromEntries(roles.promptSizes.map((size, index) => [`prompt_size_chars_r${index + 1}`, size]));
    return {
      bridge,
      model_family: modelFamilyOf(bridge),
      connection_used: connectionWord(roles.connection),
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
      agents_spawned: [...experts.values(), challenger, integration].filter(({ isReached }) => isReached).length,
      model_validation_warnings: options.warnings ?? [],
      reasoning_level: options.reasoningLevel ?? null,
      roles: records,
      notes: roles.notes,
      artifacts: [],
    };
  }
}

/** One state of the debate. */
interface DebateView {
  /** Returns the packet for a prompt that already contains this many characters of earlier rounds. */
  packetFor(takenCharacters?: number): FittedPacket;
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

const sizeOf = (requests: readonly unknown[]): number => (requests.length === 0 ? 0 : JSON.stringify(requests).length);

/** Returns the median confidence of the roles, one step lower if a role did not answer. */
function confidenceOf(seats: readonly Seat[], isIncomplete: boolean): Confidence {
  const reported = seats.flatMap(({ confidence }) => (confidence === null ? [] : [confidences.indexOf(confidence)])).sort();
  const middle = reported[Math.floor(reported.length / 2)] ?? confidences.indexOf("medium");
  return confidences[middle + (isIncomplete ? 1 : 0)] ?? "low";
}

const isCancelled = ({ errorCode }: Failure): boolean => errorCode === "cancelled";
