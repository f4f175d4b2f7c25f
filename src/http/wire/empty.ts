import { z } from "zod";

/** The query of a route that takes no parameters. */
export const noQuery = z.strictObject({});

/** The body of a POST that needs none. */
export const emptyBody = z.strictObject({}).optional();
