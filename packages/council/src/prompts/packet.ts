import { type Challenge, type Output, rankSeverity } from "../types.ts";

/** Maximum size of the context for a role without a session, in characters. */
export const CONTEXT_LIMIT_CHARACTERS = 32_000;

/** The sentence that a prompt contains when its context was shortened. */
export const SUMMARIZED_NOTE =
  "NOTE: What earlier rounds found is shortened here, because it exceeds 32,000 characters. The files in .outputs/bridges/ contain all of it.";

/** A domain that was added to the debate, and the reason. */
export interface AddedDomain {
  domain: string;
  trigger_finding_id: string | null;
  reason: string;
}

/** Context of a round for a role. */
export interface ContextPacket {
  round: number;
  active_domains: string[];
  newly_added_domains: AddedDomain[];
  /** Outputs, shortened if the packet was too large. */
  previous_findings: unknown[];
  open_challenges: { challenge_id: string; target_finding_id: string; challenge_text: string; directed_at_domain: string }[];
  /** Similar outputs of different domains with different severities. */
  conflicts: { finding_ids: [string, string]; about: string }[];
  /** Findings that no active domain covers. */
  gaps: string[];
  synthesis: string;
}

/** Returns an open challenge in the format of the packet. */
export const describeChallenge = ({ id, targetId, text, domain }: Challenge) => ({
  challenge_id: id,
  target_finding_id: targetId,
  challenge_text: text,
  directed_at_domain: domain,
});

/** A packet within the limit, and a note about what was removed; null if nothing was. */
export interface FittedPacket {
  packet: ContextPacket;
  note: string | null;
}

/**
 * Shortens the findings of a packet step by step until it fits, and notes the last step: removes details, reduces
 * MEDIUM and lower findings to one line, removes these lines, and finally lists the oldest findings by their id only.
 */
export function fitPacket(
  packet: Omit<ContextPacket, "previous_findings">,
  findings: readonly Output[],
  limit = CONTEXT_LIMIT_CHARACTERS,
): FittedPacket {
  const buildPacket = (previous_findings: unknown[]): ContextPacket => {
    const { round, active_domains, newly_added_domains, ...rest } = packet;
    return { round, active_domains, newly_added_domains, previous_findings, ...rest };
  };
  const fits = (candidate: ContextPacket): boolean => JSON.stringify(candidate).length <= limit;
  const whole = buildPacket([...findings]);
  if (fits(whole)) return { packet: whole, note: null };

  const omitDetails = ({ id, title, severity, description }: Output) => ({ id, title, severity, description });
  const toLine = ({ id, title, severity }: Output): string => `${id}: ${title} (${severity ?? "no severity"})`;
  const isSevere = ({ severity }: Output): boolean => severity !== null && rankSeverity(severity) <= rankSeverity("HIGH");

  const withoutDetails = buildPacket(findings.map(omitDetails));
  if (fits(withoutDetails)) return { packet: withoutDetails, note: SUMMARIZED_NOTE };
  const withLines = buildPacket(findings.map((finding) => (isSevere(finding) ? omitDetails(finding) : toLine(finding))));
  if (fits(withLines)) return { packet: withLines, note: SUMMARIZED_NOTE };

  const severe = findings.filter(isSevere);
  const left = findings.length - severe.length;
  // The oldest first, because the debate is about the latest findings.
  const shorten = (count: number) => buildPacket(severe.map((finding, index) => (index < count ? finding.id : omitDetails(finding))));
  const idOnlyCount = findSmallest(severe.length, (count) => fits(shorten(count)));
  const shortPacket = shorten(idOnlyCount);
  const words = [
    ...(left > 0 ? [`${left} findings of MEDIUM or lower are left out.`] : []),
    ...(idOnlyCount > 0 ? [`${idOnlyCount} findings are listed by their id only.`] : []),
  ];
  if (fits(shortPacket)) return { packet: shortPacket, note: [SUMMARIZED_NOTE, ...words].join(" ") };
  const cutTexts = (length: number): ContextPacket => ({
    ...shortPacket,
    open_challenges: packet.open_challenges.map((challenge) => ({ ...challenge, challenge_text: cut(challenge.challenge_text, length) })),
  });
  const halvings = findSmallest(16, (count) => fits(cutTexts(limit >> count)));
  return { packet: cutTexts(limit >> halvings), note: [SUMMARIZED_NOTE, ...words, "Texts of challenges are cut."].join(" ") };
}

/** Binary search: returns the smallest sufficient count up to `limit`; `limit` if none is sufficient. */
function findSmallest(limit: number, isEnough: (count: number) => boolean): number {
  let [low, high] = [0, limit];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (isEnough(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** Removes the parts of a packet that the prompt of a role contains under separate headings, and returns them separately. */
export function omitOwnParts(
  { packet, note }: FittedPacket,
  { findings = [], challenges = [] }: { findings?: readonly Pick<Output, "id">[]; challenges?: readonly Pick<Challenge, "id">[] },
): { rest: FittedPacket; findings: unknown[]; challenges: ContextPacket["open_challenges"] } {
  const [ids, challengeIds] = [findings, challenges].map((items) => new Set(items.map(({ id }) => id)));
  const isOwnFinding = (finding: unknown): boolean => ids?.has(idOf(finding)) === true;
  const isOwnChallenge = ({ challenge_id }: { challenge_id: string }): boolean => challengeIds?.has(challenge_id) === true;
  const { previous_findings, open_challenges } = packet;
  return {
    rest: {
      packet: {
        ...packet,
        previous_findings: previous_findings.filter((finding) => !isOwnFinding(finding)),
        open_challenges: open_challenges.filter((challenge) => !isOwnChallenge(challenge)),
      },
      note,
    },
    findings: previous_findings.filter(isOwnFinding),
    challenges: open_challenges.filter(isOwnChallenge),
  };
}

/** Returns the id of a finding, which is an object, a line or the id itself. */
const idOf = (finding: unknown): string =>
  typeof finding === "string" ? (finding.split(":")[0] ?? "") : (finding as Pick<Output, "id">).id;

/** Limits of a history of challenges: characters of its texts, and entries. */
const HISTORY = { characters: 8_000, entries: 100 } as const;

/** Returns the challenges so far with the responses. The texts of open challenges are in the packet. */
export function describeHistory(challenges: readonly Challenge[]): unknown[] {
  const shown = challenges.slice(-HISTORY.entries);
  const length = Math.floor(HISTORY.characters / 2 / Math.max(1, shown.filter(({ state }) => state === "defended").length));
  const entries = shown.map(({ id, targetId, text, state, response }) => ({
    challenge_id: id,
    target_finding_id: targetId,
    state,
    ...(state === "defended" ? { challenge_text: cut(text, length), response: response === null ? null : cut(response, length) } : {}),
  }));
  const omitted = challenges.length - shown.length;
  return omitted > 0 ? [`${omitted} earlier challenges are left out.`, ...entries] : entries;
}

/** Limits of one prompt: number of requests, and characters of their reasons. */
const REQUESTS = { entries: 20, characters: 8_000 } as const;

/** A request of a role to an active expert. */
export interface DomainRequest {
  domain: string;
  from: string;
  finding_id: string | null;
  reason: string;
}

/** Returns the requests to one expert. Entries beyond the limit are counted, and long reasons are marked as cut. */
export function describeRequests(requests: readonly DomainRequest[]): unknown[] {
  const shown = requests.slice(0, REQUESTS.entries);
  const length = Math.floor(REQUESTS.characters / Math.max(1, shown.length));
  const entries = shown.map(({ from, finding_id, reason }) => ({ from, finding_id, reason: cut(reason, length) }));
  const left = requests.length - shown.length;
  return left > 0 ? [...entries, `${left} more requests are left out.`] : entries;
}

/** Cuts a text to a length, and appends how much is missing. */
export const cut = (text: string, length: number): string =>
  text.length <= length ? text : `${text.slice(0, length).toWellFormed()} … [${text.length - length} characters cut]`;
