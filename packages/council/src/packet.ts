import { type Challenge, type Output, severityRank } from "./words.ts";

/** The most that the context of a round may hold for a role that remembers nothing, in characters. */
const CONTEXT_LIMIT_CHARACTERS = 32_000;

/** What stands in a prompt whose context had to be shortened. */
export const SUMMARIZED_NOTE = "NOTE: Prior round context summarized due to size (>32k chars). Full outputs in .outputs/bridges/ artifact.";

/** A domain that was called in, and what for. */
export interface AddedDomain {
  domain: string;
  trigger_finding_id: string | null;
  reason: string;
}

/** What a role gets to know before a round. */
export interface ContextPacket {
  round: number;
  active_domains: string[];
  newly_added_domains: AddedDomain[];
  /** Whole outputs, or what is left of them where the packet was too large. */
  previous_findings: unknown[];
  open_challenges: { challenge_id: string; target_finding_id: string; challenge_text: string; directed_at_domain: string }[];
  /** Outputs of different domains that say the same with different weight. */
  conflicts: { finding_ids: [string, string]; about: string }[];
  /** Concerns that no active domain looks after. */
  gaps: string[];
  synthesis: string;
}

/** An open challenge in the packet's words. */
export const describeChallenge = ({ id, targetId, text, domain }: Challenge) => ({
  challenge_id: id,
  target_finding_id: targetId,
  challenge_text: text,
  directed_at_domain: domain,
});

/** A packet that fits, and the note that says what was taken from it; null when nothing was. */
export interface FittedPacket {
  packet: ContextPacket;
  note: string | null;
}

/**
 * Shortens the findings of a packet until it fits, step by step, and says so: first the details go, then MEDIUM and lower become one line each,
 * then those lines go, and in the end the oldest findings are listed by their id only.
 */
export function fitPacket(
  packet: Omit<ContextPacket, "previous_findings">,
  findings: readonly Output[],
  limit = CONTEXT_LIMIT_CHARACTERS,
): FittedPacket {
  const withFindings = (previous_findings: unknown[]): ContextPacket => {
    const { round, active_domains, newly_added_domains, ...rest } = packet;
    return { round, active_domains, newly_added_domains, previous_findings, ...rest };
  };
  const fits = (candidate: ContextPacket): boolean => JSON.stringify(candidate).length <= limit;
  const whole = withFindings([...findings]);
  if (fits(whole)) return { packet: whole, note: null };

  const brief = ({ id, title, severity, description }: Output) => ({ id, title, severity, description });
  const line = ({ id, title, severity }: Output): string => `${id}: ${title} (${severity ?? "no severity"})`;
  const isGrave = ({ severity }: Output): boolean => severity !== null && severityRank(severity) <= severityRank("HIGH");

  const briefly = withFindings(findings.map(brief));
  if (fits(briefly)) return { packet: briefly, note: SUMMARIZED_NOTE };
  const inLines = withFindings(findings.map((finding) => (isGrave(finding) ? brief(finding) : line(finding))));
  if (fits(inLines)) return { packet: inLines, note: SUMMARIZED_NOTE };

  const grave = findings.filter(isGrave);
  const left = findings.length - grave.length;
  // The oldest first: what was found last is what the debate is about.
  for (let byId = 0; ; byId += 1) {
    const short = withFindings(grave.map((finding, index) => (index < byId ? finding.id : brief(finding))));
    const words = [
      ...(left > 0 ? [`${left} findings of MEDIUM or lower are left out.`] : []),
      ...(byId > 0 ? [`${byId} findings are listed by their id only.`] : []),
    ];
    if (fits(short)) return { packet: short, note: [SUMMARIZED_NOTE, ...words].join(" ") };
    if (byId < grave.length) continue;
    const perChallenge = Math.max(80, Math.floor(limit / 2 / Math.max(1, packet.open_challenges.length)));
    const open_challenges = packet.open_challenges.map((challenge) => ({
      ...challenge,
      challenge_text: cut(challenge.challenge_text, perChallenge),
    }));
    return { packet: { ...short, open_challenges }, note: [SUMMARIZED_NOTE, ...words, "Texts of challenges are cut."].join(" ") };
  }
}

const cut = (text: string, length: number): string => (text.length <= length ? text : `${text.slice(0, length).toWellFormed()} …`);
