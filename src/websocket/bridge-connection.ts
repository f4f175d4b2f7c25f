import type { Socket } from "node:net";
import type { WebSocket } from "@fastify/websocket";
import { withTimeout } from "@hak2i/async-kit";
import { type Reservation, UNCOUNTED_BYTES } from "../http/wire/client-memory.ts";
import { isLate } from "../timers/deadline.ts";
import type { BridgeChannel } from "./bridge-protocol.ts";
import type { Frame } from "./parse-envelope.ts";

/** Maximum frames of one socket that Bridge processes concurrently. While more frames wait, Bridge does not read from the socket. */
export const MAX_IN_FLIGHT = 16;
/** Bridge processes no further frame while the client has more unread bytes. */
const MAX_UNREAD_BYTES = 1024 * 1024;
/** Maximum total size of the frames in progress. Processing a frame needs several times its size in memory. */
const MAX_IN_PROGRESS_BYTES = 8 * 1024 * 1024;
/** Size of a control frame from a client without its payload. */
const CONTROL_FRAME_BYTES = 6;

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
  const waiting: Frame[] = [];
  const closed = new Promise<void>((resolve) => socket.once("close", () => resolve()));
  let inFlight = 0;
  let inProgressBytes = 0;
  /** Bytes of complete messages that have no response yet. */
  let frameBytes = 0;
  let incompleteBytes = 0;
  let incompleteSince: number | null = null;
  let incompleteAtPing: number | null = null;
  /** Position in the stream at which the current message starts. */
  let messageStart = stream.bytesRead;
  let isClosing = false;
  let onIdle = (): void => {};
  let isPinged = false;
  let wasPaused = false;
  let bytesAtPing = stream.bytesRead;
  let sent: Promise<void> = Promise.resolve();
  let unreadBytes = 0;
  /** The response that is being sent, now and at the last ping. */
  let sending: object | null = null;
  let sendingAtPing: object | null = null;

  const closedSignal = new AbortController();
  const channel: BridgeChannel = { push, signal: closedSignal.signal };

  let dueAt = performance.now() + heartbeatMs;
  const heartbeat = setInterval(beat, heartbeatMs).unref();
  void closed.then(() => {
    clearInterval(heartbeat);
    closedSignal.abort();
    reservation.release();
  });
  socket.on("message", (bytes: Buffer, isBinary) => {
    if (isClosing) return;
    messageStart = stream.bytesRead;
    incompleteBytes = 0;
    incompleteSince = null;
    frameBytes += bytes.length;
    waiting.push({ bytes, isBinary });
    processFrames();
    updateReservation();
  });
  // Control frames can interrupt a message but are not part of it.
  const skipControlFrame = (payload: Buffer): void => {
    messageStart += CONTROL_FRAME_BYTES + payload.length;
  };
  socket.on("ping", skipControlFrame);
  socket.on("pong", skipControlFrame);
  // Runs after the socket has processed the same bytes, so the remaining bytes belong to an incomplete message.
  stream.on("data", () => {
    const bytes = stream.bytesRead - messageStart;
    if (bytes < UNCOUNTED_BYTES || isClosing) return;
    incompleteBytes = bytes;
    incompleteSince ??= performance.now();
    updateReservation();
    onIncomplete();
  });

  function updateReservation(): void {
    const bytes = incompleteBytes + frameBytes + unreadBytes;
    reservation.set(bytes < UNCOUNTED_BYTES ? 0 : bytes);
  }

  function canProcess(next: Frame): boolean {
    const isAlone = inFlight === 0;
    return (
      isAlone ||
      (inFlight < MAX_IN_FLIGHT && unreadBytes <= MAX_UNREAD_BYTES && inProgressBytes + next.bytes.length <= MAX_IN_PROGRESS_BYTES)
    );
  }

  function processFrames(): void {
    for (let next = waiting[0]; next !== undefined && canProcess(next); next = waiting[0]) {
      waiting.shift();
      processFrame(next);
    }
    // Unread data stays in the system's buffers, which slows the client down.
    if (waiting.length > 0) {
      socket.pause();
      wasPaused = true;
    } else if (socket.isPaused) socket.resume();
    if (inFlight === 0) onIdle();
  }

  /** A frame counts as in flight until its response is sent, so that a client that does not read gets no further responses. */
  function processFrame(frame: Frame): void {
    const bytes = frame.bytes.length;
    inFlight += 1;
    inProgressBytes += bytes;
    // The callbacks do not refer to the frame, so that it can be garbage-collected when its response exists.
    void handleFrame(frame, channel)
      .then((text) => {
        frameBytes -= bytes;
        inProgressBytes -= bytes;
        return send(Buffer.from(text));
      })
      .then(() => {
        inFlight -= 1;
        processFrames();
      });
  }

  /** Sends one message after the other, so that several long responses at the same time do not make the client look slow. */
  function send(bytes: Buffer): Promise<void> {
    unreadBytes += bytes.length;
    updateReservation();
    sent = sent.then(async () => {
      sending = {};
      await new Promise<void>((resolve) => socket.send(bytes, { binary: false }, () => resolve()));
      sending = null;
      unreadBytes -= bytes.length;
      updateReservation();
    });
    return sent;
  }

  /** Waits until the client has read enough; Bridge does not push to a client that does not read. */
  async function push(json: string): Promise<void> {
    while (unreadBytes > MAX_UNREAD_BYTES && !closedSignal.signal.aborted) await sent;
    if (!isClosing && socket.readyState === socket.OPEN) await send(Buffer.from(json));
  }

  /**
   * Disconnects a client that since the last ping sent nothing, read nothing of the current response, or did not
   * complete the current message.
   */
  function beat(): void {
    // The event loop was blocked, so Bridge could not process a pong or a read by the client. The next ping decides.
    if (isLate(dueAt)) isPinged = false;
    dueAt = performance.now() + heartbeatMs;
    const isSilent = isPinged && stream.bytesRead === bytesAtPing;
    // While reading was paused, Bridge could not receive anything from the client.
    const isUnresponsive = isSilent && !wasPaused;
    const isStuck = isPinged && sending !== null && sending === sendingAtPing;
    const isTrickling = incompleteSince !== null && incompleteSince === incompleteAtPing && !wasPaused;
    wasPaused = socket.isPaused;
    incompleteAtPing = incompleteSince;
    if (isUnresponsive || isStuck || isTrickling) {
      disconnect();
      return;
    }
    bytesAtPing = stream.bytesRead;
    sendingAtPing = sending;
    isPinged = true;
    socket.ping();
  }

  function disconnect(): void {
    if (socket.readyState !== socket.OPEN) return;
    stopProcessing();
    onDisconnect();
    socket.terminate();
  }

  function stopProcessing(): void {
    isClosing = true;
    waiting.length = 0;
    incompleteSince = null;
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
      return incompleteSince;
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
      const idle = new Promise<void>((resolve) => {
        onIdle = resolve;
      });
      if (inFlight > 0) await withTimeout(idle, graceMs, () => {});
      close(code, reason);
      await closed;
    },
  };
}
