import { type ContextPacket, describeChallenge } from "../prompts/packet.ts";
import { findConflicts, findGaps } from "./consolidate.ts";
import type { DebateState } from "./debate-state.ts";

/** Returns the packet of the current round without its findings. */
export function describeRound({ findings, challenges, domains, round }: DebateState): Omit<ContextPacket, "previous_findings"> {
  const standing = findings.listStanding();
  const open = challenges.listOpen();
  const added = domains.listLatest();
  const conflicts = findConflicts(standing);
  const gaps = findGaps(standing, domains.listWanted());
  const sentences = [
    `Round ${round - 1}: ${standing.length} findings stand.`,
    `${open.length} challenges are open.`,
    added.length === 0 ? "No domain was added." : `Added: ${added.map(({ domain }) => domain).join(", ")}.`,
    ...(conflicts.length > 0 ? [`${conflicts.length} conflicts between domains.`] : []),
    ...(gaps.length > 0 ? [`Gaps: ${gaps.join("; ")}.`] : []),
  ];
  return {
    round,
    active_domains: [...domains.active],
    newly_added_domains: [...added],
    open_challenges: open.map(describeChallenge),
    conflicts: conflicts.slice(0, 20),
    gaps,
    synthesis: sentences.join(" "),
  };
}
