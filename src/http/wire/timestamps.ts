import { z } from "zod";

/** Schema of a time: ISO 8601 in UTC. */
export const timestamp = z.iso.datetime();

/** Schema of a time in a query, with any time zone. Its output is ms since the epoch. */
export const timeParameter = z.iso
  .datetime({ offset: true, error: "must be an ISO 8601 time with a time zone, such as 2026-11-22T09:30:00Z" })
  .transform((text) => Date.parse(text));
/** The type of `timeParameter` in the OpenAPI document. */
export const timeInput = { override: { type: "string", format: "date-time" } } as const;

/** Formats ms since the epoch as ISO 8601. */
export const toIso = (at: number): string => new Date(at).toISOString();
export const toIsoOrNull = (at: number | null): string | null => (at === null ? null : toIso(at));
