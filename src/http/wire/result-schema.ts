import { z } from "zod";
import {
  connections,
  attemptSchema as contractAttemptSchema,
  executionResultSchema,
  repositoryOutcomeSchema,
  taskErrorCodeSchema,
} from "#contract";
import { extensibleEnum } from "./extensible-enum.ts";

export const errorCodeSchema = extensibleEnum(taskErrorCodeSchema, { id: "TaskErrorCode", description: "Why a task failed." });
export const connectionSchema = extensibleEnum(z.enum(connections), {
  id: "Connection",
  description: "How the adapter reaches its runtime.",
});

/** An attempt of a task. */
export const attemptSchema = contractAttemptSchema.extend({ errorCode: errorCodeSchema.nullable() }).meta({
  id: "Attempt",
  description: "An attempt of a task, or a candidate that was skipped. Null: unknown, or it does not apply.",
});

/** The result of a task. */
const resultFields = {
  errorCode: errorCodeSchema.optional(),
  connection: connectionSchema,
  attempts: z.array(attemptSchema).optional(),
  repository: repositoryOutcomeSchema
    // openapi-fetch drops a field whose only type is null.
    .extend({ conflicts: z.null().meta({ description: "Always null.", override: { type: ["array", "null"], items: { type: "string" } } }) })
    .meta({ id: "RepositoryOutcome", description: "What a task has changed in its work tree of a repository." })
    .optional(),
};
export const resultSchema = executionResultSchema.extend(resultFields).meta({
  id: "ExecutionResult",
  description: "The result of a task. A missing field is unknown or does not apply.",
});
