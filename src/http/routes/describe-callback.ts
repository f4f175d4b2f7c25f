import { z } from "zod";
import { callbackStates } from "../../callbacks/callbacks.ts";
import type { Callback } from "../../queries/task-reader.ts";
import { timestamp, toIso, toIsoOrNull } from "../wire/timestamps.ts";

export const callbackStateSchema = z.enum(callbackStates).meta({ id: "CallbackState" });

/** A callback in the API. */
export const callbackSchema = z
  .strictObject({
    taskId: z.string(),
    url: z.string(),
    state: callbackStateSchema,
    attempts: z.number().int().describe("Number of attempts, including those before a redelivery."),
    nextAttemptAt: timestamp.nullable(),
    lastStatus: z.number().int().nullable(),
    lastError: z.string().nullable(),
    updatedAt: timestamp,
  })
  .meta({ id: "Callback", description: "The delivery of a task's result to its `callbackUrl`." });

/** Converts a callback to its form in the API. */
export function describeCallback({
  task,
  url,
  state,
  attempts,
  nextAttemptAt,
  lastStatus,
  lastError,
  updatedAt,
}: Callback): z.infer<typeof callbackSchema> {
  return {
    taskId: task.taskId,
    url,
    state,
    attempts,
    nextAttemptAt: toIsoOrNull(nextAttemptAt),
    lastStatus,
    lastError,
    updatedAt: toIso(updatedAt),
  };
}
