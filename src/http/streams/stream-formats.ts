import { z } from "zod";
import type { ClientMemory } from "../../access/client-memory.ts";
import type { EventLog } from "../../events/event-log.ts";
import { createEventEncoder } from "../wire/encode-event.ts";
import { createSharing } from "./shared-events.ts";

const streamFormats = ["event", "message"] as const;
/** Whether events have their type as their name, or are messages without a name. */
export type StreamFormat = (typeof streamFormats)[number];

/** Schema of the parameter `format` of a stream. */
export const streamFormatSchema = z
  .enum(streamFormats)
  .default("event")
  .describe(
    "Streams only. `message`: events have no name, so `onmessage` of an EventSource receives all of them, and `type` in their data is their type. Default: `event`.",
  );

export type StreamFormats = ReturnType<typeof createStreamFormats>;

/** Creates the encoders of both formats. Streams of one format share their buffers. */
export function createStreamFormats({ formatId, clientMemory }: Pick<EventLog, "formatId"> & { clientMemory: ClientMemory }) {
  const create = (isNamed: boolean) => {
    const encode = createEventEncoder(formatId, { isNamed });
    return { encode, share: createSharing({ encode, clientMemory }) };
  };
  return { event: create(true), message: create(false) } satisfies Record<StreamFormat, unknown>;
}
