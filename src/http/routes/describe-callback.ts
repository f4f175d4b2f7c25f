import { z } from "zod";
import { type CallbackAttempt, type CallbackDetails, callbackStates, isAwaitingEnd } from "../../callbacks/callbacks.ts";
import type { Callback } from "../../queries/task-reader.ts";
import { extensibleEnum } from "../wire/extensible-enum.ts";
import { timestamp, toIso, toIsoOrNull } from "../wire/timestamps.ts";

export const callbackStateSchema = z.enum(callbackStates).meta({ id: "CallbackState" });

/** A callback in the API. */
export const callbackSchema = z
  .strictObject({
    taskId: z.string(),
    url: z.string(),
    state: callbackStateSchema,
    attempts: z.number().int().describe("Number of attempts, including those before a redelivery."),
    nextAttemptAt: timestamp.nullable().describe("Null until the task ends, and while no attempt is planned."),
    lastStatus: z.number().int().nullable(),
    lastError: z.string().nullable(),
    updatedAt: timestamp,
  })
  .meta({ id: "Callback", description: "The delivery of a task's result to its `callbackUrl`." });

const callbackAttemptSchema = z
  .strictObject({
    number: z.number().int().describe("Position among all attempts, beginning with 1."),
    at: timestamp.describe("When the attempt started."),
    status: z.number().int().nullable().describe("HTTP status of the response; null without a response."),
    error: z.string().nullable().describe("Short name of the failure; null if the attempt delivered the callback."),
    durationMs: z.number().int().describe("Time until the head of the response or the failure."),
    response: z
      .string()
      .nullable()
      .describe(
        "The first 1 KiB of the response body as text; null without a response. The receiver determines it: treat it as text, never as HTML. " +
          "U+FFFD replaces invalid UTF-8 and control characters, except tabs and line breaks.",
      ),
    responseTruncated: z.boolean().describe("Whether the response body has more than `response`, or was not complete in time."),
  })
  .meta({ id: "CallbackAttempt", description: "One POST of a callback." });

const waitingOnSchema = extensibleEnum(z.enum(["task"]), {
  id: "CallbackWaitingReason",
  description: "`task`: the task has not ended, and the first attempt starts when it ends.",
});

/** A callback with its history in the API. */
export const callbackDetailsSchema = z
  .strictObject({
    ...callbackSchema.shape,
    waitingOn: waitingOnSchema.nullable(),
    history: z.array(callbackAttemptSchema).describe("The last attempts, at most 20, the oldest first."),
  })
  .meta({ id: "CallbackDetails", description: "The delivery of a task's result to its `callbackUrl`, with its last attempts." });

/** Converts a callback with its history to its form in the API. */
export const describeCallbackDetails = ({ history, ...callback }: CallbackDetails): z.infer<typeof callbackDetailsSchema> => ({
  ...describeCallback(callback),
  waitingOn: isAwaitingEnd(callback) ? "task" : null,
  history: history.map(describeAttempt),
});

const describeAttempt = ({ at, ...attempt }: CallbackAttempt): z.infer<typeof callbackAttemptSchema> => ({ ...attempt, at: toIso(at) });

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

/** Schema of the answer to a redelivery of everything dead that goes to a receiver. */
export const redeliverySchema = z
  .strictObject({
    redelivered: z.number().int().describe("Number of callbacks or deliveries that this request has redelivered."),
    nextCursor: z.string().nullable().describe("The `cursor` of the next request; null if nothing dead is left to examine."),
  })
  .meta({ id: "Redelivery" });
