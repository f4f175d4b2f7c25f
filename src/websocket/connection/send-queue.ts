import type { WebSocket } from "@fastify/websocket";

/** Bridge processes no further frame and pushes nothing while the client has more unread bytes. */
const MAX_UNREAD_BYTES = 1024 * 1024;

/** The messages to one client that it has not read. */
export type SendQueue = ReturnType<typeof createSendQueue>;

/** Sends one message after the other, so that several long responses at the same time do not make the client look slow. */
export function createSendQueue(socket: WebSocket, onChange: () => void) {
  let sent: Promise<void> = Promise.resolve();
  let unreadBytes = 0;
  let currentMessage: object | null = null;

  return {
    /** Total size of the messages that the client has not read. */
    unreadBytes: () => unreadBytes,
    isFull: () => unreadBytes > MAX_UNREAD_BYTES,
    /** Identity of the message that is being sent; null if all are sent. */
    currentMessage: () => currentMessage,
    /** Resolves when the messages so far are sent. */
    waitUntilSent: () => sent,
    /** Sends a message. Resolves when it is sent. */
    send(bytes: Buffer): Promise<void> {
      unreadBytes += bytes.length;
      onChange();
      sent = sent.then(async () => {
        currentMessage = {};
        await new Promise<void>((resolve) => socket.send(bytes, { binary: false }, () => resolve()));
        currentMessage = null;
        unreadBytes -= bytes.length;
        onChange();
      });
      return sent;
    },
  };
}
