import type { CapabilityProfile, OutputType, TaskType } from "./words.ts";

/** How work of one type is framed. */
export interface Framing {
  /** What a role may do to the project. */
  profile: CapabilityProfile;
  /** The question behind every answer. */
  question: string;
  /** The kinds of output that roles are asked for. */
  outputTypes: readonly OutputType[];
  /** Does the report end in a verdict? */
  hasVerdict: boolean;
}

/** The types of work. Source: the bridge contract, "Input Schema", "Execution Capability Profile" and "Verdict Logic". */
export const framings: Readonly<Record<TaskType, Framing>> = {
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

/** The profile of a type of work; an explicit `inspect` of whoever asked narrows it, and nothing widens it. */
export const resolveProfile = (taskType: TaskType, asked?: CapabilityProfile): CapabilityProfile =>
  asked === "inspect" ? "inspect" : framings[taskType].profile;
