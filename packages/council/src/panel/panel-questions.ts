import type { Debate } from "../debate/debate.ts";
import {
  type AddedDomain,
  CONTEXT_LIMIT_CHARACTERS,
  describeHistory,
  describeRequests,
  type FittedPacket,
  fitPacket,
} from "../prompts/packet.ts";
import {
  composeChallengerPrompt,
  composeExpertPrompt,
  composeIntegrationPrompt,
  composeNewcomerPrompt,
  composeOpeningPrompt,
  integrationRole,
} from "../prompts/prompts.ts";
import type { Answer } from "../prompts/read-answer.ts";
import type { Output } from "../types.ts";
import type { Seat } from "./ask-roles.ts";
import { type Panel, seatsOf } from "./panel.ts";

/** A prompt for one role. */
export interface Question {
  seat: Seat;
  prompt: string;
  /** Applies the answer to the debate, and returns the new findings. */
  apply(answer: Answer): Output[];
}

/** Returns the questions of the first round, in which every role works independently. */
export function createOpeningQuestions(panel: Panel): Question[] {
  const { debate, options } = panel;
  return seatsOf(panel).map((seat) => ({
    seat,
    prompt: composeOpeningPrompt(seat.role, options.input),
    apply: (answer) => debate.applyOpeningAnswer(seat.speaker, answer),
  }));
}

/** Returns the questions to the Challenger and the Integration Checker, which start a debate round. */
export function createChallengeQuestions({ debate, challenger, integration, options }: Panel, round: number): Question[] {
  const { input, log } = options;
  const history = describeHistory(debate.challenges);
  const fitToPrompt = preparePacket(debate);
  const own = debate.listStanding().filter(({ agent }) => agent === integrationRole.title);
  const challenges = debate.challenges.filter(({ state, targetId }) => state === "open" && own.some(({ id }) => id === targetId));
  return [
    {
      seat: challenger,
      prompt: composeChallengerPrompt(input, {
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
      seat: integration,
      prompt: composeIntegrationPrompt(input, { packet: fitToPrompt(0), own, challenges, hasSession: integration.session !== undefined }),
      apply: (answer) => debate.applyAnswer(integration.speaker, answer),
    },
  ];
}

/** Returns the questions to the experts, which end a debate round. */
export function createResponseQuestions({ debate, experts, options }: Panel, added: readonly AddedDomain[]): Question[] {
  const { input } = options;
  const fitToPrompt = preparePacket(debate);
  return [...experts.values()].map((seat) => {
    const { domain } = seat.role;
    const requests = describeRequests(debate.takeRequests(domain));
    const packet = fitToPrompt(requests.length === 0 ? 0 : JSON.stringify(requests).length);
    const joined = added.find((entry) => entry.domain === domain);
    const prompt =
      joined === undefined
        ? composeExpertPrompt(seat.role, input, {
            packet,
            own: debate.listOutputs(domain),
            challenges: debate.listOpenChallenges(domain),
            requests,
            hasSession: seat.session !== undefined,
          })
        : composeNewcomerPrompt(seat.role, input, { added: joined, trigger: findTrigger(debate, joined), requests, packet });
    return { seat, prompt, apply: (answer) => debate.applyAnswer(seat.speaker, answer) };
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
  const [described, standing] = [debate.describeRound(), debate.listStanding()];
  const whole = fitPacket(described, standing, CONTEXT_LIMIT_CHARACTERS);
  return (takenCharacters) => (takenCharacters === 0 ? whole : fitPacket(described, standing, CONTEXT_LIMIT_CHARACTERS - takenCharacters));
}
