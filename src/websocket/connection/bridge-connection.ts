import type { Socket } from "node:net";
import type { WebSocket } from "@fastify/websocket";
import { withTimeout } from "@hak2i/async-kit";
import { type Reservation, UNCOUNTED_BYTES } from "../../http/wire/client-memory.ts";
import type { BridgeChannel } from "../bridge-protocol.ts";
import type { Frame } from "../parse-envelope.ts";
import { createFrameQueue } from "./frame-queue.ts";
import { startHeartbeat } from "./heartbeat.ts";
import { trackIncompleteMessage } from "./incomplete-message.ts";
import { createSendQueue } from "./send-queue.ts";

/** The open socket of one client. */
export type BridgeConnection = ReturnType<typeof openConnection>;

/** Options of a connection. */
export interface ConnectionOptions {
  /** The TCP connection of the socket. */
  stream: Pick<Socket, "bytesRead" | "on">;
  /** Counts the memory that this client occupies. */
  reservation: Reservation;
  /** Called when the next part of an incomplete message arrives. */
  onIncomplete(): void;
  /** Processes a frame and returns the text of its response; never rejects. */
  handleFrame(frame: Frame, channel: BridgeChannel): Promise<string>;
  heartbeatMs: number;
  /** Called when Bridge disconnects a client that does not read or respond. */
  onDisconnect(): void;
}

/** Processes the frames of a socket and sends one response for each. Limits the memory that the client can occupy. */
export function openConnection(socket: WebSocket, options: ConnectionOptions) {
  const { stream, reservation, handleFrame, heartbeatMs, onIncomplete, onDisconnect } = options;
  let isClosing = false;
  const closed = new Promise<void>((resolve) => socket.once("close", () => resolve()));
  const closedSignal = new AbortController();
  const channel: BridgeChannel = { push, signal: closedSignal.signal };
  const outgoing = createSendQueue(socket, updateReservation);
  const incoming = trackIncompleteMessage(socket, stream, () => {
    updateReservation();
    onIncomplete();
  });
  const heartbeat = startHeartbeat(socket, { stream, incoming, outgoing, intervalMs: heartbeatMs, onFailure: disconnect });
  const frames = createFrameQueue({ handleFrame: (frame) => handleFrame(frame, channel), outgoing, setPaused });
  void closed.then(() => {
    heartbeat.stop();
    closedSignal.abort();
    reservation.release();
  });
  socket.on("message", (bytes: Buffer, isBinary) => {
    if (isClosing) return;
    incoming.complete();
    frames.add({ bytes, isBinary });
    updateReservation();
  });

  function updateReservation(): void {
    const bytes = incoming.bytes() + frames.unansweredBytes() + outgoing.unreadBytes();
    reservation.set(bytes < UNCOUNTED_BYTES ? 0 : bytes);
  }

  function setPaused(isPaused: boolean): void {
    if (isPaused) {
      socket.pause();
      heartbeat.notePause();
    } else if (socket.isPaused) socket.resume();
  }

  /** Waits until the client has read enough; Bridge does not push to a client that does not read. */
  async function push(json: string): Promise<void> {
    while (outgoing.isFull() && !closedSignal.signal.aborted) await outgoing.waitUntilSent();
    if (!isClosing && socket.readyState === socket.OPEN) await outgoing.send(Buffer.from(json));
  }

  function disconnect(): void {
    if (socket.readyState !== socket.OPEN) return;
    stopProcessing();
    onDisconnect();
    socket.terminate();
  }

  function stopProcessing(): void {
    isClosing = true;
    frames.clear();
    incoming.stop();
  }

  /** Closes the socket. Responses of pending requests are dropped. */
  function close(code: number, reason: string): void {
    stopProcessing();
    // Resumed to receive the close frame of the client.
    socket.resume();
    socket.close(code, reason);
  }

  return {
    /** Start of the incomplete message, in ms of the monotonic clock; null if there is none or it is too small to count. */
    get incompleteSince() {
      return incoming.startedAt();
    },
    close,
    /** Closes the socket and stops reading, so that the client does not have to complete its message. */
    closeUnread(code: number, reason: string): void {
      stopProcessing();
      reservation.release();
      // Stop reading, so that the rest of the message is not buffered.
      socket.pause();
      socket.close(code, reason);
    },
    /** Closes the socket when all received frames have responses, or after the grace period. Resolves when the socket is closed. */
    async drain(code: number, reason: string, graceMs: number): Promise<void> {
      if (!frames.isIdle()) await withTimeout(frames.waitUntilIdle(), graceMs, () => {});
      close(code, reason);
      await closed;
    },
  };
}
