import { z } from "zod";

/** The query of a route that has no parameters. */
export const noQuery = z.strictObject({});

/** The body of a POST that needs no body: absent or an empty object. */
export const emptyBody = z.strictObject({}).optional();

/** The path parameters of the routes of one task. */
export const taskParams = z.object({ taskId: z.string().describe("Id of the task.") });
