import type { RoleRequest, RoleResult } from "./bridge-options.ts";
import { advocatePrompt, type CrossRound, coordinatorPrompt, crossIntegrationPrompt, crossRoles } from "./cross-prompts.ts";
import { createDebate, type Speaker } from "./debate.ts";
import { estimateTimeoutSeconds, measureScope } from "./estimate-timeout.ts";
import type { CouncilInput } from "./input.ts";
import type { MergedOutput } from "./merge-sources.ts";
import { type Answer, readAnswer } from "./read-answer.ts";
import type { RoleRecord } from "./report.ts";
import { hasEnded } from "./run-bridge.ts";
import type { Spending } from "./spending.ts";
import type { Intensity, Output } from "./words.ts";

/** Rounds of the debate over the findings of several bridges. */
export const crossRounds: Readonly<Record<Intensity, number>> = { quick: 0, standard: 2, thorough: 3 };

/** What the debate works with. */
export interface CrossDebateOptions {
  input: CouncilInput;
  merged: readonly MergedOutput[];
  /** Who speaks for which role, by turns: as different as the completed bridges allow. */
  speakers: readonly { provider: string; model?: string }[];
  execute(request: RoleRequest): Promise<RoleResult>;
  secondsLeft(): number;
  spending: Spending;
  log(event: Record<string, unknown>): void;
  onProgress(data: Record<string, unknown>): void;
}

/** How the debate ended. */
export interface CrossDebateResult {
  outputs: Output[];
  withdrawn: Output[];
  disputed: { output: Output; unresolved_challenge: string }[];
  rounds: number;
  roles: RoleRecord[];
}

/** Lets a devil's advocate doubt what the bridges have found, an integration checker add to it, and a coordinator decide. */
export async function runCrossDebate(options: CrossDebateOptions): Promise<CrossDebateResult> {
  const { input, merged, speakers, spending, log, onProgress } = options;
  const debate = createDebate(input.domains, "I");
  debate.take(merged.map(asOutput), crossRoles.coordinator);
  const roles: RoleRecord[] = [];
  const seconds = estimateTimeoutSeconds(measureScope(input.scope), input.intensity);
  let rounds = 0;

  const describe = (round: number): CrossRound => ({ round, findings: debate.standing(), merged, challenges: debate.challenges });

  async function ask({ agent, domain }: Speaker, place: number, message: string, round: number): Promise<Answer | null> {
    const timeoutSeconds = Math.floor(Math.min(seconds, options.secondsLeft()));
    const who = speakers[place % speakers.length];
    const record = (reason: string | null): void => {
      roles.push({ round, role: agent, domain, answered: reason === null, reason });
      onProgress({ phase: "cross-debate", round, role: agent, domain, answered: reason === null });
      if (reason !== null) log({ event: "role_lost", round, role: agent, domain, reason });
    };
    if (who === undefined || timeoutSeconds < 1 || !spending.take()) {
      record(timeoutSeconds < 1 ? "no time left" : "no further run is allowed");
      return null;
    }
    const result = await options.execute({
      provider: who.provider,
      ...(who.model === undefined ? {} : { model: who.model }),
      message,
      timeoutSeconds,
      profile: "inspect",
      role: agent,
      domain,
      round,
    });
    spending.add(result);
    const answer = result.status === "ok" ? readAnswer(result.output ?? "", input.taskType) : null;
    record(answer !== null ? null : result.status === "ok" ? "unreadable answer" : (result.errorCode ?? "error"));
    return answer;
  }

  const tellFound = (found: readonly Output[], round: number): void => {
    for (const { id, severity, title, domain } of found) log({ event: "output", id, severity, title, domain, round });
  };

  while (rounds < crossRounds[input.intensity] && debate.standing().length > 0 && options.secondsLeft() >= 1) {
    const round = rounds + 1;
    debate.beginRound(round + 1, []);
    const [doubts, findings] = await Promise.all([
      ask(crossRoles.advocate, 1, advocatePrompt(input, describe(round)), round),
      ask(crossRoles.integration, 2, crossIntegrationPrompt(input, describe(round)), round),
    ]);
    if (doubts !== null) {
      const { raised, found } = debate.hearChallenger(crossRoles.advocate, doubts);
      for (const { id, targetId, text } of raised) log({ event: "challenge", id, target: targetId, text, round });
      tellFound(found, round);
    }
    if (findings !== null) tellFound(debate.hearExpert(crossRoles.integration, findings), round);
    const decision = await ask(crossRoles.coordinator, 0, coordinatorPrompt(input, describe(round)), round);
    if (decision !== null) tellFound(debate.hearExpert(crossRoles.coordinator, decision), round);
    rounds = round;
    if (doubts === null && findings === null && decision === null) break;
    if (hasEnded(debate)) break;
  }
  return { ...debate.conclude(), rounds, roles };
}

const asOutput = ({ sources: _, positions: __, escalated: ___, ...output }: MergedOutput): Output => output;
