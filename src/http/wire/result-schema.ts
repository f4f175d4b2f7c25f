import { z } from "zod";
import { connections, executionResultSchema, taskErrorCodeSchema } from "#contract";
import { extensibleEnum } from "./extensible-enum.ts";

export const errorCodeSchema = extensibleEnum(taskErrorCodeSchema, { id: "TaskErrorCode", description: "Why a task failed." });
export const connectionSchema = extensibleEnum(z.enum(connections), {
  id: "Connection",
  description: "How the adapter reaches its runtime.",
});

/** The result of a task. */
export const resultSchema = executionResultSchema.extend({ errorCode: errorCodeSchema.optional(), connection: connectionSchema }).meta({
  id: "ExecutionResult",
  description: "The result of a task. A missing field is unknown or does not apply.",
});
