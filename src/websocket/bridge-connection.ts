import type { Socket } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import type { WebSocket } from "@fastify/websocket";
import { isLate } from "../callbacks/deadline.ts";
import { type Reservation, UNCOUNTED_BYTES } from "../http/wire/client-memory.ts";
import type { BridgeChannel } from "./bridge-protocol.ts";
import type { Frame } from "./parse-envelope.ts";

/** Frames of one socket that are in work at once; the others wait, and so does who sends them. */
export const MAX_IN_FLIGHT = 16;
/** While more than this is unread by the client, Bridge processes no further frame. */
const MAX_UNTAKEN_BYTES = 1024 * 1024;
/** Total size of the frames in progress: one frame of the default limit, which needs several times its size in memory. */
const MAX_IN_WORK_BYTES = 8 * 1024 * 1024;
/** Around the payload of a control frame from a client. */
const CONTROL_FRAME_BYTES = 6;

/** One client's socket, for as long as it is open. */
export interface BridgeConnection {
  /** Start of the incomplete message, in ms; null when there is none or it is too small to count. */
  readonly unfinishedSince: number | null;
  /** Takes no more frames, and closes; answers that are still made are dropped. */
  close(code: number, reason: string): void;
  /** Closes without reading on: the client does not have to answer. */
  dismiss(code: number, reason: string): void;
  /** Closes when every frame that came is answered, or after the grace; resolves when it is closed. */
  end(code: number, reason: string, graceMs: number): Promise<void>;
}

/** What a connection is made of. */
export interface ConnectionOptions {
  /** The connection below the socket. */
  stream: Pick<Socket, "bytesRead" | "on">;
  /** Counts the memory that this client occupies. */
  reservation: Reservation;
  /** Called when more of an incomplete message arrives. */
  onUnfinished(): void;
  /** Makes the answer of a frame; never rejects. */
  answer(frame: Frame, channel: BridgeChannel): Promise<string>;
  heartbeatMs: number;
  /** The client does not read, or is not there any more. */
  onCutOff(): void;
}

/** Answers the frames of a socket, each once, and bounds what a client can make Bridge reservation. */
export function openConnection(socket: WebSocket, options: ConnectionOptions): BridgeConnection {
  const { stream, reservation, answer, heartbeatMs, onUnfinished, onCutOff } = options;
  const waiting: Frame[] = [];
  const closed = new Promise<void>((resolve) => socket.once("close", () => resolve()));
  let inFlight = 0;
  let inWorkBytes = 0;
  /** Bytes of complete messages whose answers are not built yet. */
  let frameBytes = 0;
  let unfinishedBytes = 0;
  let unfinishedSince: number | null = null;
  let unfinishedBefore: number | null = null;
  /** Position in the stream at which the current message starts. */
  let messageBegan = stream.bytesRead;
  let isClosing = false;
  let onIdle = (): void => {};
  let isPinged = false;
  let wasPaused = false;
  let bytesHeard = stream.bytesRead;
  let taken: Promise<void> = Promise.resolve();
  let untakenBytes = 0;
  /** The answer that is being taken, now and at the last ping. */
  let taking: object | null = null;
  let takingBefore: object | null = null;

  const over = new AbortController();
  const channel: BridgeChannel = { push, signal: over.signal };

  let dueAt = performance.now() + heartbeatMs;
  const heartbeat = setInterval(beat, heartbeatMs).unref();
  void closed.then(() => {
    clearInterval(heartbeat);
    over.abort();
    reservation.release();
  });
  socket.on("message", (bytes: Buffer, isBinary) => {
    if (isClosing) return;
    messageBegan = stream.bytesRead;
    unfinishedBytes = 0;
    unfinishedSince = null;
    frameBytes += bytes.length;
    waiting.push({ bytes, isBinary });
    takeFrames();
    count();
  });
  // A message may be interrupted by control frames, which are not part of it.
  const passOver = (payload: Buffer): void => {
    messageBegan += CONTROL_FRAME_BYTES + payload.length;
  };
  socket.on("ping", passOver);
  socket.on("pong", passOver);
  // Runs after the socket has read the same bytes. The remaining bytes belong to an incomplete message.
  stream.on("data", () => {
    const bytes = stream.bytesRead - messageBegan;
    if (bytes < UNCOUNTED_BYTES || isClosing) return;
    unfinishedBytes = bytes;
    unfinishedSince ??= performance.now();
    count();
    onUnfinished();
  });

  function count(): void {
    const bytes = unfinishedBytes + frameBytes + untakenBytes;
    reservation.set(bytes < UNCOUNTED_BYTES ? 0 : bytes);
  }

  function mayWork(next: Frame): boolean {
    const isAlone = inFlight === 0;
    return (
      isAlone || (inFlight < MAX_IN_FLIGHT && untakenBytes <= MAX_UNTAKEN_BYTES && inWorkBytes + next.bytes.length <= MAX_IN_WORK_BYTES)
    );
  }

  function takeFrames(): void {
    for (let next = waiting[0]; next !== undefined && mayWork(next); next = waiting[0]) {
      waiting.shift();
      work(next);
    }
    // What is in the system's buffers stays there: the client feels it.
    if (waiting.length > 0) {
      socket.pause();
      wasPaused = true;
    } else if (socket.isPaused) socket.resume();
    if (inFlight === 0) onIdle();
  }

  /** A frame is in work until its answer is taken: who does not read is not answered further. */
  function work(frame: Frame): void {
    const bytes = frame.bytes.length;
    inFlight += 1;
    inWorkBytes += bytes;
    // Not in a closure, so that the frame can be garbage-collected when its answer is built.
    void answer(frame, channel)
      .then((text) => {
        frameBytes -= bytes;
        inWorkBytes -= bytes;
        return send(Buffer.from(text));
      })
      .then(() => {
        inFlight -= 1;
        takeFrames();
      });
  }

  /** One after the other: what is long and made at the same moment waits here, and is no sign of a slow client. */
  function send(bytes: Buffer): Promise<void> {
    untakenBytes += bytes.length;
    count();
    taken = taken.then(async () => {
      taking = {};
      await new Promise<void>((resolve) => socket.send(bytes, { binary: false }, () => resolve()));
      taking = null;
      untakenBytes -= bytes.length;
      count();
    });
    return taken;
  }

  /** Waits until the client has read enough; Bridge does not push to a client that does not read. */
  async function push(json: string): Promise<void> {
    while (untakenBytes > MAX_UNTAKEN_BYTES && !over.signal.aborted) await taken;
    if (!isClosing && socket.readyState === socket.OPEN) await send(Buffer.from(json));
  }

  /** Disconnects a client that has sent nothing since the last ping, has read nothing of the same answer, or has not completed the same message. */
  function beat(): void {
    // Bridge itself did not run, so it has not processed a pong or a read by the client yet. The next ping decides.
    if (isLate(dueAt)) isPinged = false;
    dueAt = performance.now() + heartbeatMs;
    const isSilent = isPinged && stream.bytesRead === bytesHeard;
    // Where as much as may be is in work, it is Bridge that did not listen.
    const isGone = isSilent && !wasPaused;
    const isStuck = isPinged && taking !== null && taking === takingBefore;
    const isTrickling = unfinishedSince !== null && unfinishedSince === unfinishedBefore && !wasPaused;
    wasPaused = socket.isPaused;
    unfinishedBefore = unfinishedSince;
    if (isGone || isStuck || isTrickling) {
      cutOff();
      return;
    }
    bytesHeard = stream.bytesRead;
    takingBefore = taking;
    isPinged = true;
    socket.ping();
  }

  function cutOff(): void {
    if (socket.readyState !== socket.OPEN) return;
    takeNoMore();
    onCutOff();
    socket.terminate();
  }

  function takeNoMore(): void {
    isClosing = true;
    waiting.length = 0;
    unfinishedSince = null;
  }

  function close(code: number, reason: string): void {
    takeNoMore();
    // Its own goodbye must be heard.
    socket.resume();
    socket.close(code, reason);
  }

  return {
    get unfinishedSince() {
      return unfinishedSince;
    },
    close,
    dismiss(code, reason) {
      takeNoMore();
      reservation.release();
      // Stop reading, so that the rest of the message is not buffered.
      socket.pause();
      socket.close(code, reason);
    },
    async end(code, reason, graceMs) {
      const idle = new Promise<void>((resolve) => {
        onIdle = resolve;
      });
      if (inFlight > 0) await Promise.race([idle, delay(graceMs, undefined, { ref: false })]);
      close(code, reason);
      await closed;
    },
  };
}
