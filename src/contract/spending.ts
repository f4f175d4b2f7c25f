import { z } from "zod";

/** Where the cost of a task comes from: the runtime's own figure, or, for at least a part of it, tokens multiplied by a price. */
export const costSources = ["runtime", "priced"] as const;
export type CostSource = (typeof costSources)[number];

/** One call of a model. `startedAt` is in ms since the epoch. `status` is the HTTP status; null if there was no response. */
export const modelCallSchema = z.object({
  startedAt: z.number(),
  durationMs: z.number().nonnegative(),
  status: z.number().int().nullable(),
  /** Whether the response broke off, so that the usage may be too low. */
  incomplete: z.boolean().optional(),
});
export type ModelCall = z.infer<typeof modelCallSchema>;

/** Whether a task may call its model again. `reason` is a text for the runtime. */
export type SpendingAnswer = { allowed: true } | { allowed: false; reason: string };

/** The limit at which a vendor rejects calls. `resetsAt` is in ms since the epoch; null if the vendor names no time. */
export interface ModelLimit {
  /** The `taskId` of the `ExecutionRequest`. */
  taskId: string;
  resetsAt: number | null;
  reason: string;
}
