import { createDecision } from "../decide.ts";

/** Rejects a tool call. */
export const run = createDecision("reject");
