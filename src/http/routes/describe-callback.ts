import { z } from "zod";
import { callbackStates } from "../../callbacks/callbacks.ts";
import type { Callback } from "../../queries/task-reader.ts";
import { time, toIso, toIsoOrNull } from "../wire/time.ts";

export const callbackStateSchema = z.enum(callbackStates).meta({ id: "CallbackState" });

/** A callback as operators see it. */
export const callbackSchema = z
  .strictObject({
    taskId: z.string(),
    url: z.string(),
    state: callbackStateSchema,
    attempts: z.number().int().describe("POSTs made, over all rounds."),
    nextAttemptAt: time.nullable(),
    lastStatus: z.number().int().nullable(),
    lastError: z.string().nullable(),
    updatedAt: time,
  })
  .meta({ id: "Callback", description: "The delivery of a task's result to its `callbackUrl`." });

/** A callback on the wire. */
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
