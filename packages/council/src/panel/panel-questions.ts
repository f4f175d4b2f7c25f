import type { Debate } from "../debate/debate.ts";
import {
  type AddedDomain,
  CONTEXT_LIMIT_CHARACTERS,
  describeHistory,
  describeRequests,
  type FittedPacket,
  fitPacket,
} from "../prompts/packet.ts";
import { challengerPrompt, expertPrompt, integrationPrompt, integrationRole, newcomerPrompt, openingPrompt } from "../prompts/prompts.ts";
import type { Answer } from "../prompts/read-answer.ts";
import type { Output } from "../types.ts";
import type { Seat } from "./ask-roles.ts";
import { type Panel, seatsOf } from "./panel.ts";

/** A prompt for one role. */
export interface Question {
  who: Seat;
  prompt: string;
  /** Applies the answer to the debate, and returns the new findings. */
  apply(answer: Answer): Output[];
}

/** Returns the questions of the first round, in which every role works independently. */
export function openingQuestions(panel: Panel): Question[] {
  const { debate, options } = panel;
  return seatsOf(panel).map((who) => ({
    who,
    prompt: openingPrompt(who.role, options.input),
    apply: (answer) => debate.applyOpeningAnswer(who.speaker, answer),
  }));
}

/** Returns the questions to the Challenger and the Integration Checker, which start a debate round. */
export function challengeQuestions({ debate, challenger, integration, options }: Panel, round: number): Question[] {
  const { input, log } = options;
  const history = describeHistory(debate.challenges);
  const fitToPrompt = preparePacket(debate);
  const own = debate.standing().filter(({ agent }) => agent === integrationRole.title);
  const challenges = debate.challenges.filter(({ state, targetId }) => state === "open" && own.some(({ id }) => id === targetId));
  return [
    {
      who: challenger,
      prompt: challengerPrompt(input, {
        packet: fitToPrompt(JSON.stringify(history).length),
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
      prompt: integrationPrompt(input, { packet: fitToPrompt(0), own, challenges, hasSession: integration.session !== undefined }),
      apply: (answer) => debate.applyAnswer(integration.speaker, answer),
    },
  ];
}

/** Returns the questions to the experts, which end a debate round. */
export function responseQuestions({ debate, experts, options }: Panel, added: readonly AddedDomain[]): Question[] {
  const { input } = options;
  const fitToPrompt = preparePacket(debate);
  return [...experts.values()].map((who) => {
    const { domain } = who.role;
    const requests = describeRequests(debate.takeRequests(domain));
    const packet = fitToPrompt(requests.length === 0 ? 0 : JSON.stringify(requests).length);
    const joined = added.find((entry) => entry.domain === domain);
    const prompt =
      joined === undefined
        ? expertPrompt(who.role, input, {
            packet,
            own: debate.outputsOf(domain),
            challenges: debate.challengesFor(domain),
            requests,
            hasSession: who.session !== undefined,
          })
        : newcomerPrompt(who.role, input, { added: joined, trigger: findTrigger(debate, joined), requests, packet });
    return { who, prompt, apply: (answer) => debate.applyAnswer(who.speaker, answer) };
  });
}

/** Returns the finding for which a domain was added. */
const findTrigger = (debate: Debate, { trigger_finding_id: id }: AddedDomain): Output | undefined =>
  id === null ? undefined : debate.findOutput(id);

/**
 * Describes the current state of the debate. Returns a function that fits the description into a prompt which already
 * contains a number of characters from earlier rounds.
 */
function preparePacket(debate: Debate): (takenCharacters: number) => FittedPacket {
  const [described, standing] = [debate.describeRound(), debate.standing()];
  const whole = fitPacket(described, standing, CONTEXT_LIMIT_CHARACTERS);
  return (takenCharacters) => (takenCharacters === 0 ? whole : fitPacket(described, standing, CONTEXT_LIMIT_CHARACTERS - takenCharacters));
}
