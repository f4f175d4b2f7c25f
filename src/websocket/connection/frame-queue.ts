import type { Frame } from "../parse-envelope.ts";
import type { SendQueue } from "./send-queue.ts";

/** Maximum frames of one socket that Bridge processes concurrently. While more frames wait, Bridge does not read from the socket. */
export const MAX_IN_FLIGHT = 16;
/** Maximum total size of the frames in progress. Processing a frame needs several times its size in memory. */
const MAX_IN_PROGRESS_BYTES = 8 * 1024 * 1024;

/** Options of a queue. */
interface FrameQueueOptions {
  /** Processes a frame and returns the text of its response; never rejects. Calls `onQueued` when the response is in the send queue. */
  handleFrame(frame: Frame): Promise<{ text: string; onQueued(): void }>;
  outgoing: SendQueue;
  /** Stops or continues reading from the socket. */
  setPaused(isPaused: boolean): void;
}

/** Processes the frames of a socket in their order, as many at the same time as the limits permit, and sends the responses. */
export function createFrameQueue({ handleFrame, outgoing, setPaused }: FrameQueueOptions) {
  const waiting: Frame[] = [];
  let inFlight = 0;
  let inProgressBytes = 0;
  let unansweredBytes = 0;
  let onIdle = (): void => {};

  function canStart({ bytes }: Frame): boolean {
    if (inFlight === 0) return true;
    const fits = inProgressBytes + bytes.length <= MAX_IN_PROGRESS_BYTES;
    return inFlight < MAX_IN_FLIGHT && !outgoing.isFull() && fits;
  }

  function startFrames(): void {
    for (let next = waiting[0]; next !== undefined && canStart(next); next = waiting[0]) {
      waiting.shift();
      start(next);
    }
    // Unread data stays in the system's buffers, which slows the client down.
    setPaused(waiting.length > 0);
    if (inFlight === 0) onIdle();
  }

  /** A frame counts as in flight until its response is sent, so that a client that does not read gets no further responses. */
  function start(frame: Frame): void {
    const bytes = frame.bytes.length;
    inFlight += 1;
    inProgressBytes += bytes;
    // The callbacks do not refer to the frame, so that it can be garbage-collected when its response exists.
    void handleFrame(frame)
      .then(({ text, onQueued }) => {
        unansweredBytes -= bytes;
        inProgressBytes -= bytes;
        const sent = outgoing.send(Buffer.from(text));
        onQueued();
        return sent;
      })
      .then(() => {
        inFlight -= 1;
        startFrames();
      });
  }

  return {
    /** Total size of the frames that have no response yet. */
    unansweredBytes: () => unansweredBytes,
    /** Returns whether no frame is in flight. */
    isIdle: () => inFlight === 0,
    add(frame: Frame): void {
      unansweredBytes += frame.bytes.length;
      waiting.push(frame);
      startFrames();
    },
    /** Removes the waiting frames. */
    clear(): void {
      waiting.length = 0;
    },
    /** Resolves when all frames in flight have been answered. */
    waitUntilIdle(): Promise<void> {
      return new Promise((resolve) => {
        onIdle = resolve;
      });
    },
  };
}
