import type { Socket } from "node:net";
import type { WebSocket } from "@fastify/websocket";
import { UNCOUNTED_BYTES } from "../../http/wire/client-memory.ts";

/** Size of a control frame from a client without its payload. */
const CONTROL_FRAME_BYTES = 6;

/** The message of which a client has sent only a part. */
export type IncompleteMessage = ReturnType<typeof trackIncompleteMessage>;

/** Measures the incomplete message of a socket. Calls back when the next part of a message that counts arrives. */
export function trackIncompleteMessage(socket: WebSocket, stream: Pick<Socket, "bytesRead" | "on">, onPart: () => void) {
  /** Position in the stream at which the message starts. */
  let start = stream.bytesRead;
  let bytes = 0;
  let since: number | null = null;
  let isStopped = false;

  // Control frames can interrupt a message but are not part of it.
  const skipControlFrame = (payload: Buffer): void => {
    start += CONTROL_FRAME_BYTES + payload.length;
  };
  socket.on("ping", skipControlFrame);
  socket.on("pong", skipControlFrame);
  // Runs after the socket has processed the same bytes, so the remaining bytes belong to an incomplete message.
  stream.on("data", () => {
    const received = stream.bytesRead - start;
    if (received < UNCOUNTED_BYTES || isStopped) return;
    bytes = received;
    since ??= performance.now();
    onPart();
  });

  return {
    /** Size of the message; 0 if it is too small to count. */
    bytes: () => bytes,
    /** Start of the message, in ms of the monotonic clock; null if there is none or it is too small to count. */
    since: () => since,
    /** Must be called when a message is complete. */
    complete(): void {
      start = stream.bytesRead;
      bytes = 0;
      since = null;
    },
    /** Ignores the rest of the message. */
    stop(): void {
      isStopped = true;
      since = null;
    },
  };
}
