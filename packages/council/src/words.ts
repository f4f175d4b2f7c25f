/** What kind of work a council does; it decides how roles are asked, what they may change and whether there is a verdict. */
export const taskTypes = ["review", "planning", "implementation", "analysis", "research", "audit"] as const;
export type TaskType = (typeof taskTypes)[number];

/** How deep a council looks. */
export const intensities = ["quick", "standard", "thorough"] as const;
export type Intensity = (typeof intensities)[number];

/** Every kind of output item. */
export const outputTypes = ["finding", "recommendation", "plan-item", "implementation-note", "observation", "compliance-gap"] as const;
export type OutputType = (typeof outputTypes)[number];

/** How bad it is, worst first. */
export const severities = ["CRITICAL", "HIGH", "MEDIUM", "LOW", "INFO"] as const;
export type Severity = (typeof severities)[number];

/** What became of an output in the debate. */
export const outputStates = ["confirmed", "revised", "withdrawn", "disputed", "discovered"] as const;
export type OutputState = (typeof outputStates)[number];

/** How sure somebody is, surest first. */
export const confidences = ["high", "medium", "low"] as const;
export type Confidence = (typeof confidences)[number];

/** How the whole thing ended. */
export type ReportStatus = "COMPLETED" | "SKIPPED" | "HALTED" | "ABORTED";

export type Verdict = "PASS" | "FAIL" | "CONCERNS";

/** May the roles change the project? */
export type CapabilityProfile = "inspect" | "modify";

/** The domain of what concerns several domains at once. */
export const CROSS_DOMAIN = "cross-domain";

/** The `agent` of observations that no role made: they result from a comparison of all findings. */
export const CONSOLIDATION = "consolidation";

/** One thing that a role has said, as it stands now. */
export interface Output {
  id: string;
  type: OutputType;
  severity: Severity | null;
  status: OutputState;
  title: string;
  description: string;
  evidence: string | null;
  action: string | null;
  domain: string;
  /** The role that produced it. */
  agent: string;
}

/** A role asks another domain to look at something. */
export interface CrossDomainSignal {
  domain: string;
  reason: string;
  /** The output of the same answer that it is about, when the role said so. */
  findingId: string | null;
}

/** An objection to an output, and how it stands. */
export interface Challenge {
  id: string;
  targetId: string;
  text: string;
  /** The domain whose expert has to answer. */
  domain: string;
  /**
   * `open`: without an answer. `defended`: the expert stays with its finding, and the Challenger has not replied yet. `settled`: the expert revised
   * or withdrew the finding, the Challenger accepted the defense, or a judge decided. `withdrawn`: by the Challenger.
   */
  state: "open" | "defended" | "settled" | "withdrawn";
  /** The expert's answer; null without one. */
  response: string | null;
  /** The Challenger repeated the challenge after an answer. */
  maintained: boolean;
  /** The challenge was left over from the debate in which the finding was made. */
  isInherited: boolean;
}

/** -1 for the worst, so that it sorts first; without a severity last. */
export const severityRank = (severity: Severity | null): number => (severity === null ? severities.length : severities.indexOf(severity));
