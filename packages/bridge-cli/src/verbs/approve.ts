import { createDecision } from "../decide.ts";

/** Approves a tool call. */
export const run = createDecision("approve");
