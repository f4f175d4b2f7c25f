import type { Socket } from "node:net";
import type { WebSocket } from "@fastify/websocket";
import { UNCOUNTED_BYTES } from "../../access/client-memory.ts";

/** Size of a control frame from a client without its payload. */
const CONTROL_FRAME_BYTES = 6;

/** The message of which a client has sent only a part. */
export type IncompleteMessage = ReturnType<typeof trackIncompleteMessage>;

/** Measures the incomplete message of a socket. Calls `onPart` for each arriving part of a message that is large enough to count. */
export function trackIncompleteMessage(socket: WebSocket, stream: Pick<Socket, "bytesRead" | "on">, onPart: () => void) {
  /** Position in the stream at which the message starts. */
  let startPosition = stream.bytesRead;
  let bytes = 0;
  let startedAt: number | null = null;
  let isStopped = false;

  // Control frames can interrupt a message but are not part of it.
  const skipControlFrame = (payload: Buffer): void => {
    startPosition += CONTROL_FRAME_BYTES + payload.length;
  };
  socket.on("ping", skipControlFrame);
  socket.on("pong", skipControlFrame);
  // Runs after the socket has processed the same bytes, so the remaining bytes belong to an incomplete message.
  stream.on("data", () => {
    const received = stream.bytesRead - startPosition;
    if (received < UNCOUNTED_BYTES || isStopped) return;
    bytes = received;
    startedAt ??= performance.now();
    onPart();
  });

  return {
    /** Size of the message; 0 if it is too small to count. */
    bytes: () => bytes,
    /** Start of the message, in ms of the monotonic clock; null if there is none or it is too small to count. */
    startedAt: () => startedAt,
    /** Must be called when a message is complete. */
    complete(): void {
      startPosition = stream.bytesRead;
      bytes = 0;
      startedAt = null;
    },
    /** Ignores the rest of the message. */
    stop(): void {
      isStopped = true;
      startedAt = null;
    },
  };
}
