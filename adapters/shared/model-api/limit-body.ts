import { setImmediate as nextTurn } from "node:timers/promises";

/** Where one event of a stream of events ends. */
const eventEnds = ["\n\n", "\n\r\n"] as const;

/** Part of a stream of events that is passed on in one turn of the event loop. Each event may take its reader a tenth of a millisecond. */
const TURN_BYTES = 4 * 1024;

/** How much of a body may have to be held at once. */
export interface BodyLimit {
  bytes: number;
  /** Of a stream of events nobody holds more than one: the limit is one event's, not the whole body's. */
  perEvent?: boolean;
  /** How much the whole body may have all the same: each event costs time, also one that means nothing. Default: no limit. */
  totalBytes?: number;
  /** What the body ends with beyond the limit. */
  excess(): Error;
  /** Called when nothing more comes of it, for whatever reason. */
  onEnd?(): void;
}

/** The same answer, whose body ends with an error beyond the limit. */
export function limitBody(
  response: Response,
  { bytes, perEvent = false, totalBytes = Number.POSITIVE_INFINITY, excess, onEnd }: BodyLimit,
): Response {
  const { body, status, statusText, headers } = response;
  if (body === null) {
    onEnd?.();
    return response;
  }
  let length = 0;
  let total = 0;
  let turnBytes = 0;
  const isEventStream = headers.get("content-type")?.startsWith("text/event-stream") === true;
  /** The end of the last chunk: it may hold the first half of an event's end. */
  let tail = Buffer.alloc(0);
  const limited = body.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      async transform(chunk, controller) {
        for (let start = 0; isEventStream && start < chunk.length; start += TURN_BYTES) {
          const piece = chunk.subarray(start, start + TURN_BYTES);
          turnBytes += piece.length;
          if (turnBytes > TURN_BYTES) {
            await nextTurn();
            turnBytes = piece.length;
          }
          controller.enqueue(piece);
        }
        if (!isEventStream) controller.enqueue(chunk);
        length += chunk.length;
        total += chunk.length;
        if (perEvent) {
          const seen = Buffer.concat([tail, chunk]);
          const ends = eventEnds.flatMap((end) => (seen.includes(end) ? [seen.lastIndexOf(end) + end.length] : []));
          if (ends.length > 0) length = seen.length - Math.max(...ends);
          tail = seen.subarray(-2);
        }
        if (length <= bytes && total <= totalBytes) return;
        onEnd?.();
        throw excess();
      },
      flush: () => onEnd?.(),
      cancel: () => onEnd?.(),
    }),
  );
  return new Response(limited, { status, statusText, headers });
}
