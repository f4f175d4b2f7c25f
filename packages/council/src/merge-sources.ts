import { areAlike } from "./deduplicate.ts";
import { type Output, type Severity, severityRank } from "./words.ts";

/** One thing that one or several sources have found. */
export interface MergedOutput extends Output {
  /** The sources that say so, each once, in their order. */
  sources: string[];
  /** What each source thinks of it. */
  positions: { source: string; id: string; severity: Severity | null; position: string }[];
  /** Two sources or more rate it CRITICAL or HIGH. */
  escalated: boolean;
}

/**
 * Puts together what several sources say alike (over 70 % of the words), under new ids; the highest severity counts.
 * What several sources say comes first, then by severity.
 */
export function mergeSources(
  sources: readonly { source: string; outputs: readonly Output[] }[],
  nextId: (sources: readonly string[]) => string,
): MergedOutput[] {
  const groups: { source: string; output: Output }[][] = [];
  for (const { source, outputs } of sources) {
    for (const output of outputs) {
      const group = groups.find((members) => members.some((member) => member.source !== source && areAlike(member.output, output)));
      if (group === undefined) groups.push([{ source, output }]);
      else group.push({ source, output });
    }
  }
  return groups
    .map((members) => ({ members, named: [...new Set(members.map(({ source }) => source))] }))
    .sort((left, right) => right.named.length - left.named.length || rankOf(left.members) - rankOf(right.members))
    .flatMap(({ members, named }) => {
      const worst = [...members].sort((left, right) => severityRank(left.output.severity) - severityRank(right.output.severity))[0];
      if (worst === undefined) return [];
      const grave = new Set(
        members.filter(({ output }) => severityRank(output.severity) <= severityRank("HIGH")).map(({ source }) => source),
      );
      return {
        ...worst.output,
        id: nextId(named),
        sources: named,
        positions: members.map(({ source, output }) => ({ source, id: output.id, severity: output.severity, position: output.title })),
        escalated: grave.size >= 2,
      };
    });
}

const rankOf = (members: readonly { output: Output }[]): number => Math.min(...members.map(({ output }) => severityRank(output.severity)));
