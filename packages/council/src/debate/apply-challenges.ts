import type { Answer } from "../prompts/read-answer.ts";
import type { Challenge, Output } from "../types.ts";
import { applyAnswer } from "./apply-answer.ts";
import type { DebateState } from "./debate-state.ts";
import { keyOf, type Speaker } from "./findings.ts";

/** Applies the answer of the Challenger. A defense to which it does not object counts as accepted. */
export function applyChallenges(state: DebateState, speaker: Speaker, answer: Answer): { raised: Challenge[]; found: Output[] } {
  const { findings, challenges, changes } = state;
  const raised: Challenge[] = [];
  const defended = challenges.all.filter((challenge) => challenge.state === "defended");
  for (const { ref, targetId, text, decision } of answer.challenges) {
    const target = findings.find(targetId);
    if (target === undefined || target.status === "withdrawn" || target.owner === keyOf(speaker)) continue;
    const earlier = challenges.listAgainst(target);
    const repeated = earlier.find(({ id }) => id === ref) ?? earlier.find(({ isInherited }) => !isInherited);
    if (repeated === undefined) {
      if (decision === "withdrawn") continue;
      raised.push(challenges.raise(target, text));
      changes.challenged += 1;
    } else if (decision === "withdrawn") repeated.state = "withdrawn";
    // A challenge that is repeated after an answer counts as maintained, whatever its status in the answer is.
    else if (repeated.state === "defended" || repeated.state === "settled") {
      Object.assign(repeated, { maintained: true, state: "open", text } satisfies Partial<Challenge>);
      changes.challenged += 1;
    }
  }
  // The Challenger has received these defenses and accepts those to which it does not object.
  for (const challenge of defended) if (challenge.state === "defended") challenge.state = "settled";
  return { raised, found: applyAnswer(state, speaker, answer) };
}
