import { setImmediate as nextTurn } from "node:timers/promises";
import { createJsonCounter } from "#contract";

/** Separators of server-sent events. */
const EVENT_ENDS = ["\n\n", "\n\r\n"] as const;

/** Bytes of an event stream that are passed on per turn of the event loop. The reader of the stream may need 0.1 ms per event. */
const TURN_BYTES = 4 * 1024;

/** Limits of a body. */
export interface BodyLimit {
  bytes: number;
  /** Apply `bytes` to each event instead of the whole body, because the reader holds only one event at a time. */
  perEvent?: boolean;
  /** Limit of the whole body. Default: none. */
  totalBytes?: number;
  /** Limit of the JSON values of the body, or of one event. Default: none. */
  values?: number;
  /** Called with the bytes and the JSON values of each chunk, before it is passed on. An error that it throws ends the body. */
  onChunk?(bytes: number, values: number): void;
  /** Creates the error of a body that exceeds a limit. */
  createError(): Error;
  /** Called when the body ends, fails or is canceled, with whether all of it was passed on. */
  onEnd?(isWhole: boolean): void;
}

/** Returns the response with a body that fails when it exceeds a limit. */
export function limitBody(
  response: Response,
  {
    bytes,
    perEvent = false,
    totalBytes = Number.POSITIVE_INFINITY,
    values = Number.POSITIVE_INFINITY,
    onChunk,
    createError,
    onEnd,
  }: BodyLimit,
): Response {
  const { body, status, statusText, headers } = response;
  if (body === null) {
    onEnd?.(true);
    return response;
  }
  let length = 0;
  let total = 0;
  let turnBytes = 0;
  const isEventStream = headers.get("content-type")?.startsWith("text/event-stream") === true;
  const counter = values === Number.POSITIVE_INFINITY ? null : createJsonCounter({ byEvent: isEventStream });
  /** Counts before the chunk is passed on, because its reader may parse it at once. */
  const count = (chunk: Uint8Array): void => {
    if (counter === null) return;
    const before = counter.total;
    const largest = counter.add(chunk);
    onChunk?.(chunk.length, counter.total - before);
    if (largest > values) throw createError();
  };
  /** The last bytes of the previous chunk, which can contain the first half of a separator. */
  let tail = Buffer.alloc(0);
  const limited = body.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      async transform(chunk, controller) {
        try {
          count(chunk);
        } catch (error) {
          onEnd?.(false);
          throw error;
        }
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
          const ends = EVENT_ENDS.flatMap((end) => (seen.includes(end) ? [seen.lastIndexOf(end) + end.length] : []));
          if (ends.length > 0) length = seen.length - Math.max(...ends);
          tail = seen.subarray(-2);
        }
        if (length <= bytes && total <= totalBytes) return;
        onEnd?.(false);
        throw createError();
      },
      flush: () => onEnd?.(true),
      cancel: () => onEnd?.(false),
    }),
  );
  return new Response(limited, { status, statusText, headers });
}
