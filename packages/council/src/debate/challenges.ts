import { createIds } from "../ids.ts";
import type { Challenge } from "../types.ts";
import type { Finding, Findings } from "./findings.ts";

/** Challenge text of a finding that is disputed without a challenge. */
export const UNDECIDED = "It is undecided whether this finding is right.";

/** The challenges of one debate. */
export type Challenges = ReturnType<typeof createChallenges>;

/** Creates an empty list of challenges to the findings. */
export function createChallenges(findings: Findings) {
  const nextId = createIds("CH");
  const challenges: Challenge[] = [];
  /** Returns the challenges to findings that were not withdrawn. */
  const listRelevant = (): Challenge[] => challenges.filter(({ targetId }) => findings.find(targetId)?.status !== "withdrawn");

  return {
    all: challenges as readonly Challenge[],
    /** Adds an open challenge. */
    raise({ id: targetId, domain }: Finding, text: string, { isInherited = false } = {}): Challenge {
      const id = nextId();
      const challenge: Challenge = { id, targetId, text, domain, state: "open", response: null, maintained: false, isInherited };
      challenges.push(challenge);
      return challenge;
    },
    /** Returns the challenges to a finding, without those that the Challenger withdrew. */
    listAgainst: ({ id }: Finding): Challenge[] => challenges.filter(({ targetId, state }) => targetId === id && state !== "withdrawn"),
    listOpen: (): Challenge[] => challenges.filter(({ state }) => state === "open"),
    /** Returns the challenges that wait for an expert, or for the Challenger's reply to a defense. */
    listUnsettled: (): Challenge[] => listRelevant().filter(({ state }) => state === "open" || state === "defended"),
    /** Returns the challenges on which the debate did not agree. */
    listUnresolved: (): Challenge[] =>
      listRelevant().filter(({ state, maintained }) => state === "open" || (state === "defended" && maintained)),
    /** Directs the challenges to a merged finding at the finding that was kept. */
    redirect(dropped: Finding, kept: Finding): void {
      for (const challenge of challenges) if (challenge.targetId === dropped.id) challenge.targetId = kept.id;
    },
  };
}
