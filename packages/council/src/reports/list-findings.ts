import type { CrossDebateResult } from "../run-cross-debate.ts";
import { type Output, rankSeverity } from "../types.ts";
import type { CouncilFinding, FindingLists } from "./council-report.ts";
import type { MergedOutput } from "./merge-sources.ts";
import type { WeighedOutput } from "./verdict.ts";

/** The options of `listFindings`. */
export interface ListFindingsOptions {
  merged: readonly MergedOutput[];
  debated: Pick<CrossDebateResult, "outputs" | "withdrawn" | "disputed">;
  /** Bridges with a debate or with several models. */
  deepBridges: ReadonlySet<string>;
  /** Bridges whose runtime cannot continue sessions. */
  statelessBridges: ReadonlySet<string>;
}

/** Assigns each finding of a council to exactly one list of its report, and returns the findings that count for the verdict. */
export function listFindings({ merged, debated, deepBridges, statelessBridges }: ListFindingsOptions): {
  lists: FindingLists;
  weighed: WeighedOutput[];
} {
  const mergedById = new Map(merged.map((output) => [output.id, output]));
  const sourcesOf = ({ id }: Output): string[] => mergedById.get(id)?.sources ?? [];
  const challenges = new Map(debated.disputed.map(({ output, unresolved_challenge }) => [output.id, unresolved_challenge]));

  function describe(output: Output): CouncilFinding {
    const before = mergedById.get(output.id);
    const isDowngraded =
      before !== undefined && output.status === "revised" && rankSeverity(output.severity) > rankSeverity(before.severity);
    const { domain, agent: _, ...rest } = output;
    return {
      ...rest,
      status: isDowngraded ? "downgraded" : output.status,
      domains: before?.domains ?? [domain],
      positions: (before?.positions ?? []).map(({ source: bridge, ...position }) => ({ bridge, ...position })),
    };
  }

  const lists: FindingLists = {
    multi_source_confirmed: [],
    single_source_findings: [],
    disputed_findings: [],
    withdrawn_findings: debated.withdrawn.map(describe),
    integration_findings: [],
  };
  for (const output of debated.outputs) {
    const finding = describe(output);
    const sources = sourcesOf(output);
    const [source_bridge] = sources;
    if (output.status === "disputed") {
      lists.disputed_findings.push({ ...finding, unresolved_challenge: challenges.get(output.id) ?? "" });
    } else if (source_bridge === undefined) lists.integration_findings.push(finding);
    else if (sources.length === 1) lists.single_source_findings.push({ ...finding, source_bridge });
    else {
      lists.multi_source_confirmed.push({
        ...finding,
        confirmed_by: sources,
        escalated: mergedById.get(output.id)?.escalated ?? false,
        shared_cli_path: sources.filter((source) => statelessBridges.has(source)).length >= 2,
      });
    }
  }
  const weighed = debated.outputs.map((output) => ({
    severity: output.severity,
    type: output.type,
    status: output.status,
    sources: sourcesOf(output).length,
    isDeep: sourcesOf(output).some((source) => deepBridges.has(source)),
  }));
  return { lists, weighed };
}
