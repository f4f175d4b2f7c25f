import type { Challenges } from "./challenges.ts";
import type { DebateDomains } from "./debate-domains.ts";
import type { Findings, Speaker } from "./findings.ts";

/** The state of one debate. Answers change it. */
export interface DebateState {
  readonly findings: Findings;
  readonly challenges: Challenges;
  readonly domains: DebateDomains;
  /** The role that decides about all findings; null if every role decides about its own. */
  readonly judge: Speaker | null;
  round: number;
  changes: RoundChanges;
}

/** Number of changes in one round. Without changes the debate ends. */
export interface RoundChanges {
  discovered: number;
  revised: number;
  withdrawn: number;
  challenged: number;
  defended: number;
}
