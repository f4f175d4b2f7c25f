import type { AddedDomain } from "../prompts/packet.ts";
import type { AnsweredOutput } from "../prompts/read-answer.ts";
import { CONSOLIDATION, CROSS_DOMAIN, type Output } from "../types.ts";
import { findAlike } from "./deduplicate.ts";

/** Returns pairs of outputs of different domains that report the same at different severities. */
export function findConflicts(outputs: readonly Output[]): { finding_ids: [string, string]; about: string }[] {
  // An observation about a finding contains the words of the finding, so it would always be a match.
  const findings = outputs.filter(({ agent }) => agent !== CONSOLIDATION);
  return [...findAlike(findings)].flatMap(([right, alike]) =>
    alike
      .filter((left) => left.domain !== right.domain && left.severity !== right.severity)
      .map((left): { finding_ids: [string, string]; about: string } => ({ finding_ids: [left.id, right.id], about: left.title })),
  );
}

/** Maximum number of gaps that a packet lists individually. */
const MAX_GAPS = 10;

/** Returns descriptions of findings that belong to no domain, and requested domains without an expert. */
export function findGaps(outputs: readonly Output[], wanted: readonly AddedDomain[]): string[] {
  const uncovered = outputs
    .filter(({ domain }) => domain === CROSS_DOMAIN)
    .map(({ id, title }) => `${id} (${title}) is looked after by no domain`);
  const gaps = [...wanted.map(({ domain }) => `${domain} was called for and has no expert`), ...uncovered];
  return gaps.length <= MAX_GAPS ? gaps : [...gaps.slice(0, MAX_GAPS), `${gaps.length - MAX_GAPS} more`];
}

/** Creates observations about conflicting severities and about requested domains without an expert. */
export function consolidate(outputs: readonly Output[], wanted: readonly AddedDomain[]): AnsweredOutput[] {
  const createObservation = (title: string, description: string): AnsweredOutput => ({
    ref: null,
    type: "observation",
    severity: null,
    title,
    description,
    evidence: null,
    action: null,
    decision: null,
  });
  return [
    ...findConflicts(outputs).map(({ finding_ids: [left, right], about }) =>
      createObservation(`Domains weigh it differently: ${about}`, `${left} and ${right} say the same and differ in severity.`),
    ),
    ...wanted.map(({ domain, reason }) =>
      createObservation(`Not examined: ${domain}`, `The domain ${domain} was called for and no expert has looked: ${reason}`),
    ),
  ];
}
