import { findAlike } from "../debate/deduplicate.ts";
import { CONSOLIDATION, type Output, rankSeverity, type Severity } from "../types.ts";

/** The outputs of one source, with the challenges that it left unresolved. */
export interface Source {
  source: string;
  outputs: readonly Output[];
  disputed: readonly { output: Pick<Output, "id">; unresolved_challenge: string }[];
}

/** A finding of one or more sources. Severity, status and texts are those of the most severe version. */
export interface MergedOutput extends Output {
  /** Sources that report it, without duplicates, in their order. */
  sources: string[];
  /** Domains in which it was reported, that of the most severe version first. */
  domains: string[];
  /** All versions of the finding. */
  positions: { source: string; id: string; severity: Severity | null; position: string }[];
  /** Whether at least two sources rate it CRITICAL or HIGH. */
  escalated: boolean;
  /** Challenge to the most severe version; null unless that version is disputed. */
  unresolved_challenge: string | null;
}

interface Version {
  source: string;
  output: Output;
  unresolved_challenge: string | null;
}

/**
 * Merges similar outputs (over 70 % common words) of all domains under new ids. Each output is part of exactly one
 * merged output. Outputs of several sources come first, then the most severe ones.
 */
export function mergeSources(sources: readonly Source[], nextId: () => string): MergedOutput[] {
  const all = sources.flatMap(({ source, outputs, disputed }): Version[] => {
    const challenges = new Map(disputed.map(({ output: { id }, unresolved_challenge }) => [id, unresolved_challenge]));
    return outputs.map((output) => ({ source, output, unresolved_challenge: challenges.get(output.id) ?? null }));
  });
  const alike = findAlike(all.map(({ output }) => output));
  const groups: Version[][] = [];
  const groupOf = new Map<Output, Version[]>();
  for (const version of all) {
    const same = alike.get(version.output)?.find((other) => isSame(other, version.output));
    const group = (same && groupOf.get(same)) ?? [];
    if (group.length === 0) groups.push(group);
    group.push(version);
    groupOf.set(version.output, group);
  }
  return groups
    .map((versions) => ({ versions, sourceNames: [...new Set(versions.map(({ source }) => source))] }))
    .sort((left, right) => right.sourceNames.length - left.sourceNames.length || rankOf(left.versions) - rankOf(right.versions))
    .flatMap(({ versions, sourceNames }) => {
      const [mostSevere] = versions.toSorted(
        (left, right) => rankOf([left]) - rankOf([right]) || Number(isDisputed(left)) - Number(isDisputed(right)),
      );
      if (mostSevere === undefined) return [];
      const severe = versions.filter((version) => rankOf([version]) <= rankSeverity("HIGH"));
      return {
        ...mostSevere.output,
        id: nextId(),
        sources: sourceNames,
        domains: [...new Set([mostSevere, ...versions].map(({ output }) => output.domain))],
        positions: versions.map(({ source, output }) => ({ source, id: output.id, severity: output.severity, position: output.title })),
        escalated: new Set(severe.map(({ source }) => source)).size >= 2,
        unresolved_challenge: isDisputed(mostSevere) ? mostSevere.unresolved_challenge : null,
      };
    });
}

/** Removes the fields that only a merged output has. */
export function toOutput(merged: MergedOutput): Output {
  const { sources: _, domains: __, positions: ___, escalated: ____, unresolved_challenge: _____, ...output } = merged;
  return output;
}

/** Observations of a consolidation share most of their words, so two of them are the same only if their titles are equal. */
const isSame = (left: Output, right: Output): boolean =>
  left.agent === CONSOLIDATION || right.agent === CONSOLIDATION ? left.agent === right.agent && left.title === right.title : true;

const isDisputed = ({ output }: Version): boolean => output.status === "disputed";

const rankOf = (versions: readonly Version[]): number => Math.min(...versions.map(({ output }) => rankSeverity(output.severity)));
