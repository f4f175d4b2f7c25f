import { z } from "zod";

/** The path parameter of every route of one task. */
export const taskParams = z.object({ taskId: z.string().describe("Id of the task.") });
