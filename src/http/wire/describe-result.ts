import { z } from "zod";
import { connections, executionResultSchema, taskErrorCodeSchema } from "#contract";
import { openEnum } from "./open-enum.ts";

/** Why a task failed. */
export const taskErrorCode = openEnum(taskErrorCodeSchema, { id: "TaskErrorCode", description: "Why a task failed." });
/** How an adapter reaches its runtime. */
export const connection = openEnum(z.enum(connections), { id: "Connection", description: "How the adapter reaches its runtime." });

/** What a task ended with, as clients see it. */
export const resultSchema = executionResultSchema.extend({ errorCode: taskErrorCode.optional(), connection }).meta({
  id: "ExecutionResult",
  description: "What a task ended with. A missing field is unknown or does not apply.",
});
