import { hasEnded } from "../debate/debate.ts";
import { findExpert } from "../domains/find-expert.ts";
import { type CouncilInput, MAX_DOMAINS } from "../input.ts";
import type { AddedDomain } from "../prompts/packet.ts";
import type { PanelReport } from "../reports/report.ts";
import { createSeat } from "./ask-roles.ts";
import { createPanel, hasAnswers, isCanceled, MAX_DEBATE_ROUNDS, type Panel } from "./panel.ts";
import type { PanelOptions } from "./panel-options.ts";
import { createChallengeQuestions, createOpeningQuestions, createResponseQuestions, type Question } from "./panel-questions.ts";
import { createPanelReport } from "./panel-report.ts";

/** Returns the number of prompts of a council on one runtime if no domain is added and every answer is valid. */
export const countPlannedRuns = ({ domains, intensity }: Pick<CouncilInput, "domains" | "intensity">): number =>
  (domains.length + 2) * (1 + MAX_DEBATE_ROUNDS[intensity]);

/** Runs a council on one runtime: roles report findings, challenge them and defend them. Returns the report. */
export async function runPanel(options: PanelOptions): Promise<PanelReport> {
  const panel = createPanel(options);
  if (options.skipReason === undefined) {
    options.log({ event: "preflight", step: "timeout_estimate", value_seconds: panel.callSeconds });
    options.log({ event: "dispatch", mode: "multi-agent", domains: options.input.domains });
    await ask(panel, { round: 1, phase: "analysis", isLast: panel.maxDebateRounds === 0 }, createOpeningQuestions(panel));
    if (panel.debate.listStanding().length > 0) await holdDebate(panel);
  }
  return createPanelReport(panel);
}

async function holdDebate(panel: Panel): Promise<void> {
  while (panel.debateRounds < panel.maxDebateRounds && panel.options.secondsLeft() >= 1 && !isCanceled(panel)) {
    const round = panel.debateRounds + 2;
    await holdRound(panel, round);
    // A round without answers does not count, and the next one would have no answers either.
    if (!hasAnswers(panel, round)) return;
    panel.debateRounds += 1;
    if (hasEnded(panel.debate)) return;
  }
}

async function holdRound(panel: Panel, round: number): Promise<void> {
  const added = beginRound(panel, round);
  await ask(panel, { round, phase: "challenge", isLast: false }, createChallengeQuestions(panel, round));
  const isLast = panel.debateRounds + 1 === panel.maxDebateRounds;
  await ask(panel, { round, phase: "response", isLast }, createResponseQuestions(panel, added));
}

/** Starts a round with experts for the requested domains, as far as the limits permit. Returns the added domains. */
function beginRound({ debate, experts, options }: Panel, round: number): readonly AddedDomain[] {
  const { activeDomains, wantedDomains } = debate;
  const room = Math.min(options.spending.left - (activeDomains.length + 2), MAX_DOMAINS - activeDomains.length);
  const added = wantedDomains.slice(0, Math.max(0, room));
  debate.beginRound(round, added);
  for (const { domain, reason } of added) {
    experts.set(domain, createSeat(findExpert(domain, options.input.registry)));
    options.log({ event: "domain_added", domain, reason, round });
  }
  return added;
}

/** A phase of a round. No role is asked after the last one. */
interface Phase {
  round: number;
  phase: "analysis" | "challenge" | "response";
  isLast: boolean;
}

/** Asks roles concurrently and applies each answer when it arrives. */
async function ask({ debate, roles, options }: Panel, { round, phase, isLast }: Phase, questions: readonly Question[]): Promise<void> {
  const { provider, log, onProgress } = options;
  let done = 0;
  await Promise.all(
    questions.map(async ({ seat, prompt, apply }) => {
      const answer = await roles.ask(seat, prompt, { round, isLastPhase: isLast });
      const found = answer === null ? [] : apply(answer);
      done += 1;
      for (const { id, severity, title, domain } of found) log({ event: "output", id, severity, title, domain, round });
      onProgress({ phase, provider, round, role: seat.role.title, domain: seat.role.domain, done, of: questions.length });
      for (const { id, severity, title, domain } of found) onProgress({ phase: "finding", provider, round, id, severity, title, domain });
    }),
  );
  for (const merge of debate.mergeDuplicates()) log({ event: "merge", kept: merge.keptId, dropped: merge.droppedId, round });
}
