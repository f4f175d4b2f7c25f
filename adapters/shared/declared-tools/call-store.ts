import path from "node:path";
import { z } from "zod";
import { removeOldFiles } from "../agent-program/remove-old-files.ts";
import { createSessionFiles, type SessionFiles } from "../agent-program/session-files.ts";
import type { OpenCall } from "./open-calls.ts";

/** Stores the open calls (those without a result) of the sessions of one adapter. */
export interface CallStore extends SessionFiles<OpenCall[]> {
  /** Removes the calls of sessions that have not been resumed for the retention period. */
  sweep(now?: number): Promise<void>;
}

const callsSchema = z.array(z.object({ toolCallId: z.string(), toolName: z.string(), input: z.unknown() }));

/** Keeps the open calls in the data directory of an adapter. */
export function createCallStore(parent: string, retentionDays: number): CallStore {
  const directory = path.join(parent, "open-calls");
  return {
    ...createSessionFiles(directory, callsSchema),
    sweep: (now) => removeOldFiles(directory, retentionDays * 24 * 3600 * 1000, now),
  };
}
