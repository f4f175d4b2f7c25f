import { randomUUID } from "node:crypto";
import { createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";

/** Sockets whose token has not arrived. Every process of the host can connect, so there is a limit: the oldest one is closed. */
const MAX_UNIDENTIFIED = 256;

interface Listeners {
  /** Called with the token that the other side has sent first. */
  onSocket(token: string, socket: Socket): void;
  /** Called when a socket could not be accepted. */
  onError(error: Error): void;
}

/** Accepts sockets of other processes of Bridge. Each first sends a token of `tokenBytes`, which must not be guessable. */
export function acceptTokenSockets(tokenBytes: number, { onSocket, onError }: Listeners) {
  const unidentified = new Set<Socket>();
  const id = `bridge-${randomUUID()}`;
  // On Linux, an abstract address leaves no file behind.
  const address = process.platform === "linux" ? `\0${id}` : path.join(tmpdir(), id);

  const server = createServer((socket) => {
    // A program need not read its input, so a broken pipe is not an error. Readers learn from `close` that the socket has ended.
    socket.on("error", () => {});
    const [oldest] = unidentified;
    if (unidentified.size === MAX_UNIDENTIFIED) oldest?.destroy();
    const readToken = (): void => {
      const token = socket.read(tokenBytes) as Buffer | null;
      if (token === null) return;
      unidentified.delete(socket);
      socket.off("readable", readToken);
      onSocket(token.toString("latin1"), socket);
    };
    unidentified.add(socket);
    socket.once("close", () => unidentified.delete(socket));
    socket.on("readable", readToken);
  });
  server.on("error", onError);
  server.listen(address).unref();
  return { address, close: () => server.close() };
}
