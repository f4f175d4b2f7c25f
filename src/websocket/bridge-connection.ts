import type { Socket } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import type { WebSocket } from "@fastify/websocket";
import { isLate } from "../callbacks/deadline.ts";
import type { Frame } from "./envelope.ts";

/** Frames of one socket that are in work at once; the others wait, and so does who sends them. */
export const MAX_IN_FLIGHT = 16;
/** While more than this is made and not taken, in characters, no further frame is worked on. */
const MAX_UNTAKEN = 1024 * 1024;

/** One client's socket, for as long as it is open. */
export interface BridgeConnection {
  /** Takes no more frames, and closes; answers that are still made are dropped. */
  close(code: number, reason: string): void;
  /** Closes when every frame that came is answered, or after the grace; resolves when it is closed. */
  end(code: number, reason: string, graceMs: number): Promise<void>;
}

/** What a connection is made of. */
export interface ConnectionOptions {
  /** The connection below the socket. */
  stream: Pick<Socket, "bytesRead">;
  /** Makes the answer of a frame; never rejects. */
  answer(frame: Frame): Promise<string>;
  heartbeatMs: number;
  /** The client does not read, or is not there any more. */
  onCutOff(): void;
}

/** Answers the frames of a socket, each once, and bounds what a client can make Bridge hold. */
export function openConnection(socket: WebSocket, { stream, answer, heartbeatMs, onCutOff }: ConnectionOptions): BridgeConnection {
  const waiting: Frame[] = [];
  const closed = new Promise<void>((resolve) => socket.once("close", () => resolve()));
  let inFlight = 0;
  let isClosing = false;
  let onIdle = (): void => {};
  let isPinged = false;
  let wasPaused = false;
  let bytesHeard = stream.bytesRead;
  let taken: Promise<void> = Promise.resolve();
  let untaken = 0;
  /** The answer that is being taken, now and at the last ping. */
  let taking: object | null = null;
  let takingBefore: object | null = null;

  let dueAt = performance.now() + heartbeatMs;
  const heartbeat = setInterval(beat, heartbeatMs).unref();
  void closed.then(() => clearInterval(heartbeat));
  socket.on("message", (bytes: Buffer, isBinary) => {
    if (isClosing) return;
    waiting.push({ bytes, isBinary });
    takeFrames();
  });

  function takeFrames(): void {
    while (inFlight < MAX_IN_FLIGHT && untaken <= MAX_UNTAKEN && waiting.length > 0) void work(waiting.shift() as Frame);
    // What is in the system's buffers stays there: the client feels it.
    if (waiting.length > 0) {
      socket.pause();
      wasPaused = true;
    } else if (socket.isPaused) socket.resume();
    if (inFlight === 0) onIdle();
  }

  /** A frame is in work until its answer is taken: who does not read is not answered further. */
  async function work(frame: Frame): Promise<void> {
    inFlight += 1;
    await send(await answer(frame));
    inFlight -= 1;
    takeFrames();
  }

  /** One after the other: what is long and made at the same moment waits here, and is no sign of a slow client. */
  function send(text: string): Promise<void> {
    untaken += text.length;
    taken = taken.then(async () => {
      taking = {};
      await new Promise<void>((resolve) => socket.send(text, () => resolve()));
      taking = null;
      untaken -= text.length;
    });
    return taken;
  }

  /** A client of which nothing was heard since the last ping, not even a pong, is gone; one that takes the same answer still does not read. */
  function beat(): void {
    // Bridge itself did not run, so neither the pong nor the room for the answer has been seen: a late beat proves nothing.
    if (isLate(dueAt)) isPinged = false;
    dueAt = performance.now() + heartbeatMs;
    const isSilent = isPinged && stream.bytesRead === bytesHeard;
    // Where as much as may be is in work, it is Bridge that did not listen.
    const isGone = isSilent && !wasPaused;
    const isStuck = isPinged && taking !== null && taking === takingBefore;
    wasPaused = socket.isPaused;
    if (isGone || isStuck) {
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
  }

  function close(code: number, reason: string): void {
    takeNoMore();
    // Its own goodbye must be heard.
    socket.resume();
    socket.close(code, reason);
  }

  return {
    close,
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
