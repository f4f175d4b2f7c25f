import type { Socket } from "node:net";
import type { WebSocket } from "@fastify/websocket";
import { withTimeout } from "@hak2i/async-kit";
import { type Reservation, UNCOUNTED_BYTES } from "../../access/client-memory.ts";
import { createDisconnectedError } from "../../http/wire/closed-signal.ts";
import type { OpChannel } from "../op-protocol.ts";
import type { Frame } from "../parse-envelope.ts";
import { createChannel } from "./channel.ts";
import { createFrameQueue } from "./frame-queue.ts";
import { startHeartbeat } from "./heartbeat.ts";
import { trackIncompleteMessage } from "./incomplete-message.ts";
import { createSendQueue } from "./send-queue.ts";

/** The open socket of one client. */
export type SocketConnection = ReturnType<typeof openConnection>;

/** Options of a connection. */
export interface ConnectionOptions {
  /** The TCP connection of the socket. */
  stream: Pick<Socket, "bytesRead" | "on">;
  /** Starts to count memory that this client occupies. */
  openReservation(): Reservation;
  /** Resolves when a frame or a read of the tenant may start; null if it may start at once. */
  takeTurn(): Promise<void> | null;
  /** Called when the next part of an incomplete message arrives. */
  onIncomplete(): void;
  /** Processes a frame and returns the text of its response; never rejects. `reserve` reserves memory for it. */
  handleFrame(frame: Frame, channel: OpChannel, reserve: Reservation["reserve"]): Promise<string>;
  heartbeatMs: number;
  /** Called when Bridge disconnects a client that does not read or respond. */
  onDisconnect(): void;
}

/** Processes the frames of a socket and sends one response for each. Limits the memory that the client can occupy. */
export function openConnection(socket: WebSocket, options: ConnectionOptions) {
  const { stream, openReservation, takeTurn, handleFrame, heartbeatMs, onIncomplete, onDisconnect } = options;
  const reservation = openReservation();
  let isClosing = false;
  const closed = new Promise<void>((resolve) => socket.once("close", () => resolve()));
  const closedSignal = new AbortController();
  /** The memory of responses that are being built. */
  const inProgress = new Set<Reservation>();
  const outgoing = createSendQueue(socket, updateReservation);
  const isOpen = (): boolean => !isClosing && socket.readyState === socket.OPEN;
  const channel = createChannel({ outgoing, signal: closedSignal.signal, openReservation, takeTurn, isOpen });
  const incoming = trackIncompleteMessage(socket, stream, () => {
    updateReservation();
    onIncomplete();
  });
  const heartbeat = startHeartbeat(socket, { stream, incoming, outgoing, intervalMs: heartbeatMs, onFailure: disconnect });
  const frames = createFrameQueue({ handleFrame: answerFrame, outgoing, setPaused });
  void closed.then(() => {
    heartbeat.stop();
    closedSignal.abort(createDisconnectedError());
    for (const one of [reservation, ...inProgress]) one.release();
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
    // A connection that is closing stays as it is, so that the rest of a message is not buffered.
    if (isClosing) return;
    if (isPaused) {
      socket.pause();
      heartbeat.notePause();
    } else if (socket.isPaused) socket.resume();
  }

  /** Counts the memory of a response until its text waits in the send queue. */
  async function answerFrame(frame: Frame): Promise<{ text: string; onQueued(): void }> {
    const building = openReservation();
    inProgress.add(building);
    await takeTurn();
    return {
      text: await handleFrame(frame, channel, building.reserve),
      onQueued(): void {
        inProgress.delete(building);
        building.release();
      },
    };
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
