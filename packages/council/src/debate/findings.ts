import { createIds } from "../ids.ts";
import { type AnsweredOutput, defaultSeverityOf } from "../prompts/read-answer.ts";
import type { Output } from "../types.ts";

/** A role in a debate: its domain and its name. */
export interface Speaker {
  domain: string;
  agent: string;
}

/** An output with the round in which it was found. */
export interface Finding extends Output {
  foundInRound: number;
  /** Key of the role that may change it; null if it was imported from another debate, where only the judge may change it. */
  owner: string | null;
}

/** The findings of one debate. */
export type Findings = ReturnType<typeof createFindings>;

/** Creates an empty list of findings. `prefix` starts their ids. */
export function createFindings(prefix: string) {
  const nextId = createIds(prefix);
  const findings = new Map<string, Finding>();
  /** Maps the id of a merged finding to the finding that was kept. */
  const keptIds = new Map<string, string>();

  function find(id: string): Finding | undefined {
    const keptId = keptIds.get(id);
    return keptId === undefined ? findings.get(id) : find(keptId);
  }

  return {
    /** Adds an output of a role under the next id. */
    add({ domain, agent }: Speaker, answered: AnsweredOutput, round: number): Finding {
      const { type, title, evidence, action } = answered;
      const finding: Finding = {
        id: nextId(),
        type,
        severity: answered.severity ?? defaultSeverityOf(type),
        status: round === 1 ? "confirmed" : "discovered",
        title,
        description: answered.description || title,
        evidence,
        action,
        domain,
        agent,
        foundInRound: round,
        owner: keyOf({ domain, agent }),
      };
      findings.set(finding.id, finding);
      return finding;
    },
    /** Adds a finding of another debate under its own id. */
    import(finding: Finding): void {
      findings.set(finding.id, finding);
    },
    /** Returns a finding by its id, or by the id of a finding that was merged into it. */
    find,
    /** Returns the findings that were not withdrawn. */
    listStanding: (): Finding[] => [...findings.values()].filter(({ status }) => status !== "withdrawn"),
    listWithdrawn: (): Finding[] => [...findings.values()].filter(({ status }) => status === "withdrawn"),
    /** Removes a finding. Its id refers to the kept finding from then on. */
    replace(dropped: Finding, kept: Finding): void {
      findings.delete(dropped.id);
      keptIds.set(dropped.id, kept.id);
    },
  };
}

/** Returns the key of a role: domain and name, because experts of two domains may have the same title. */
export const keyOf = ({ domain, agent }: Speaker): string => `${domain}: ${agent}`;

/** Returns the output without the fields of the debate. */
export function toOutput({ foundInRound: _, owner: __, ...output }: Finding): Output {
  return output;
}
