import type { Socket } from "node:net";
import type { WebSocket } from "@fastify/websocket";
import { isLate } from "../../timers/deadline.ts";
import type { IncompleteMessage } from "./incomplete-message.ts";
import type { SendQueue } from "./send-queue.ts";

/** Options of a heartbeat. */
interface HeartbeatOptions {
  /** The TCP connection of the socket. */
  stream: Pick<Socket, "bytesRead">;
  incoming: Pick<IncompleteMessage, "startedAt">;
  outgoing: Pick<SendQueue, "currentMessage">;
  intervalMs: number;
  /** Called instead of a ping if the client does not keep up or respond. */
  onFailure(): void;
}

/**
 * Pings the client regularly. Calls `onFailure` if, since the last ping, the client sent nothing, read nothing of the
 * current response, or did not complete its current message.
 */
export function startHeartbeat(socket: WebSocket, { stream, incoming, outgoing, intervalMs, onFailure }: HeartbeatOptions) {
  let isPinged = false;
  let wasPaused = false;
  let bytesAtPing = stream.bytesRead;
  let messageAtPing: object | null = null;
  let incompleteAtPing: number | null = null;
  let dueAt = performance.now() + intervalMs;
  const timer = setInterval(beat, intervalMs).unref();

  function beat(): void {
    // The event loop was blocked, so Bridge could not process a pong or a read by the client. The next ping decides.
    if (isLate(dueAt)) isPinged = false;
    dueAt = performance.now() + intervalMs;
    const isSilent = isPinged && stream.bytesRead === bytesAtPing;
    // While reading was paused, Bridge could not receive anything from the client.
    const isUnresponsive = isSilent && !wasPaused;
    const isStuck = isPinged && outgoing.currentMessage() !== null && outgoing.currentMessage() === messageAtPing;
    const isTrickling = incoming.startedAt() !== null && incoming.startedAt() === incompleteAtPing && !wasPaused;
    wasPaused = socket.isPaused;
    incompleteAtPing = incoming.startedAt();
    if (isUnresponsive || isStuck || isTrickling) {
      onFailure();
      return;
    }
    bytesAtPing = stream.bytesRead;
    messageAtPing = outgoing.currentMessage();
    isPinged = true;
    socket.ping();
  }

  return {
    /** Must be called when Bridge pauses the socket. */
    notePause(): void {
      wasPaused = true;
    },
    stop(): void {
      clearInterval(timer);
    },
  };
}
