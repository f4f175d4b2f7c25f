import type { CapabilityProfile, OutputType, TaskType } from "./types.ts";

/** Properties of one task type. */
export interface TaskTypeProperties {
  /** Whether roles may change the project. */
  profile: CapabilityProfile;
  /** The question that roles answer. */
  question: string;
  /** The output types that roles are requested for. */
  outputTypes: readonly OutputType[];
  /** Whether the report has a verdict. */
  hasVerdict: boolean;
}

/** The properties of each task type. Source: the bridge contract, "Input Schema", "Execution Capability Profile" and "Verdict Logic". */
export const taskTypeProperties: Readonly<Record<TaskType, TaskTypeProperties>> = {
  review: {
    profile: "inspect",
    question: "Which faults does it have, and what would make it better?",
    outputTypes: ["finding", "recommendation"],
    hasVerdict: true,
  },
  analysis: { profile: "inspect", question: "What follows from it?", outputTypes: ["finding", "observation"], hasVerdict: true },
  planning: {
    profile: "inspect",
    question: "Which steps does it take, and which one comes first?",
    outputTypes: ["plan-item"],
    hasVerdict: false,
  },
  implementation: {
    profile: "modify",
    question: "What must be known and done so that it is built right?",
    outputTypes: ["implementation-note"],
    hasVerdict: false,
  },
  research: {
    profile: "inspect",
    question: "What is known about it, and between what can one choose?",
    outputTypes: ["observation", "recommendation"],
    hasVerdict: false,
  },
  audit: {
    profile: "inspect",
    question: "Which requirements does it fulfill, and which does it violate?",
    outputTypes: ["finding", "compliance-gap"],
    hasVerdict: true,
  },
};

/** Returns the profile of the roles: `modify` only if the type of work changes files and the caller allows it. */
export const resolveProfile = (taskType: TaskType, allowed: CapabilityProfile): CapabilityProfile =>
  allowed === "modify" ? taskTypeProperties[taskType].profile : "inspect";
