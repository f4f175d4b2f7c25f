import { createDebate, hasEnded } from "./debate/debate.ts";
import { estimateTimeoutSeconds, measureScope } from "./estimate-timeout.ts";
import type { CouncilInput } from "./input.ts";
import { createRoles, createSeat, type Runtime, type Seat } from "./panel/ask-roles.ts";
import type { RoleRequest, RoleResult } from "./panel/panel-options.ts";
import {
  type CrossRound,
  composeAdvocatePrompt,
  composeCoordinatorPrompt,
  composeCrossIntegrationPrompt,
  crossRoles,
} from "./prompts/cross-prompts.ts";
import type { Answer } from "./prompts/read-answer.ts";
import { type MergedOutput, toOutput } from "./reports/merge-sources.ts";
import type { RoleRecord } from "./reports/report.ts";
import type { Spending } from "./spending.ts";
import type { Intensity, Output } from "./types.ts";

/** Rounds of the debate about the findings of several runtimes. */
export const crossRounds: Readonly<Record<Intensity, number>> = { quick: 0, standard: 2, thorough: 3 };

const NO_RUNTIME: Runtime = { provider: "", resumesSessions: false };

/** The options of `runCrossDebate`. */
export interface CrossDebateOptions {
  input: CouncilInput;
  merged: readonly MergedOutput[];
  /** The runtimes whose councils completed. The roles are assigned to them in turn. */
  completedRuntimes: readonly Runtime[];
  execute(request: RoleRequest): Promise<RoleResult>;
  secondsLeft(): number;
  spending: Spending;
  log(event: Record<string, unknown>): void;
  onProgress(data: Record<string, unknown>): void;
}

/** Result of the debate. */
export interface CrossDebateResult {
  outputs: Output[];
  withdrawn: Output[];
  disputed: { output: Output; unresolved_challenge: string }[];
  rounds: number;
  roles: RoleRecord[];
  /** Notes about omitted parts of answers. */
  notes: string[];
}

/**
 * Debates the findings of the runtimes: a devil's advocate challenges them, an integration checker adds to them, and a
 * coordinator decides.
 */
export async function runCrossDebate(options: CrossDebateOptions): Promise<CrossDebateResult> {
  const { input, merged, completedRuntimes, log, onProgress } = options;
  const [coordinator, advocate, integration] = [crossRoles.coordinator, crossRoles.advocate, crossRoles.integration].map((role) =>
    createSeat({ title: role.agent, domain: role.domain }),
  ) as [Seat, Seat, Seat];
  const debate = createDebate(input.domains, "I", { judge: coordinator.speaker });
  debate.importOutputs(merged.map((output) => ({ output: toOutput(output), unresolved_challenge: output.unresolved_challenge })));
  const runtimes = new Map(
    [coordinator, advocate, integration].map(
      (seat, index) => [seat, completedRuntimes[index % completedRuntimes.length] ?? NO_RUNTIME] as const,
    ),
  );
  const runtimeOf = (seat: Seat): Runtime => {
    const { provider, model, resumesSessions } = runtimes.get(seat) ?? NO_RUNTIME;
    return { provider, resumesSessions, ...(model === undefined ? {} : { model }) };
  };
  const callSeconds = estimateTimeoutSeconds(measureScope(input.scope), input.intensity);
  // The debate judges existing findings and changes no files, whatever the type of work.
  const roles = createRoles({ ...options, profile: "inspect", runtimeOf }, callSeconds);
  let rounds = 0;

  const describe = (round: number): CrossRound => ({ round, findings: debate.listStanding(), merged, challenges: debate.challenges });

  async function ask(seat: Seat, message: string, round: number): Promise<Answer | null> {
    const isLastPhase = seat === coordinator && round === crossRounds[input.intensity];
    const answer = await roles.ask(seat, message, { round, isLastPhase });
    const { title: role, domain } = seat.role;
    onProgress({ phase: "cross-debate", provider: runtimeOf(seat).provider, round, role, domain, answered: answer !== null });
    return answer;
  }

  const logFindings = (found: readonly Output[], round: number): void => {
    for (const { id, severity, title, domain } of found) log({ event: "output", id, severity, title, domain, round });
  };

  while (rounds < crossRounds[input.intensity] && debate.listStanding().length > 0 && options.secondsLeft() >= 1) {
    const round = rounds + 1;
    debate.beginRound(round + 1, []);
    const [doubts, findings] = await Promise.all([
      ask(advocate, composeAdvocatePrompt(input, describe(round)), round),
      ask(integration, composeCrossIntegrationPrompt(input, describe(round)), round),
    ]);
    if (doubts !== null) {
      const { raised, found } = debate.applyChallenges(advocate.speaker, doubts);
      for (const { id, targetId, text } of raised) log({ event: "challenge", id, target: targetId, text, round });
      logFindings(found, round);
    }
    if (findings !== null) logFindings(debate.applyAnswer(integration.speaker, findings), round);
    const decision = await ask(coordinator, composeCoordinatorPrompt(input, describe(round)), round);
    if (decision !== null) logFindings(debate.applyAnswer(coordinator.speaker, decision), round);
    for (const merge of debate.mergeDuplicates()) log({ event: "merge", kept: merge.keptId, dropped: merge.droppedId, round });
    // A round without answers does not count, and the next one would have no answers either.
    if (doubts === null && findings === null && decision === null) break;
    rounds = round;
    // No expert joins this debate, so a missing domain is reported and does not cause another round.
    if (hasEnded({ changes: debate.changes, hasUnsettled: debate.hasUnsettled, openRequests: [], wantedDomains: [] })) break;
  }
  return { ...debate.conclude(), rounds, roles: roles.records, notes: roles.notes };
}
