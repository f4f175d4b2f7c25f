/** Task types. They determine the prompts, whether roles may change the project, and whether there is a verdict. */
export const taskTypes = ["review", "planning", "implementation", "analysis", "research", "audit"] as const;
export type TaskType = (typeof taskTypes)[number];

/** Intensities of a council. */
export const intensities = ["quick", "standard", "thorough"] as const;
export type Intensity = (typeof intensities)[number];

/** Types of outputs. */
export const outputTypes = ["finding", "recommendation", "plan-item", "implementation-note", "observation", "compliance-gap"] as const;
export type OutputType = (typeof outputTypes)[number];

/** Severities, most severe first. */
export const severities = ["CRITICAL", "HIGH", "MEDIUM", "LOW", "INFO"] as const;
export type Severity = (typeof severities)[number];

/** States of an output after the debate. */
export const outputStates = ["confirmed", "revised", "withdrawn", "disputed", "discovered"] as const;
export type OutputState = (typeof outputStates)[number];

/** Confidences, highest first. */
export const confidences = ["high", "medium", "low"] as const;
export type Confidence = (typeof confidences)[number];

/** Statuses of a report. */
export type ReportStatus = "COMPLETED" | "SKIPPED" | "HALTED" | "ABORTED";

export type Verdict = "PASS" | "FAIL" | "CONCERNS";

/** Whether roles may change the project. */
export type CapabilityProfile = "inspect" | "modify";

/** Domain of outputs that concern several domains. */
export const CROSS_DOMAIN = "cross-domain";

/** The `agent` of observations that result from comparing all findings, not from a role. */
export const CONSOLIDATION = "consolidation";

/** One output of a role in its current state. */
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

/** A request of a role to another domain. */
export interface CrossDomainSignal {
  domain: string;
  reason: string;
  /** Id of the output of the same answer that it refers to, if any. */
  findingId: string | null;
}

/** An objection to an output and its state. */
export interface Challenge {
  id: string;
  targetId: string;
  text: string;
  /** The domain whose expert must answer. */
  domain: string;
  /**
   * `open`: without an answer. `defended`: the expert stays with its finding, and the Challenger has not replied yet.
   * `settled`: the expert revised or withdrew the finding, the Challenger accepted the defense, or a judge decided.
   * `withdrawn`: by the Challenger.
   */
  state: "open" | "defended" | "settled" | "withdrawn";
  /** The expert's answer; null if there is none. */
  response: string | null;
  /** The Challenger repeated the challenge after an answer. */
  maintained: boolean;
  /** The challenge was open at the end of the debate that produced the finding. */
  isInherited: boolean;
}

/** Returns the sort key of a severity: the most severe first, null last. */
export const rankSeverity = (severity: Severity | null): number => (severity === null ? severities.length : severities.indexOf(severity));
