import { randomUUID } from "node:crypto";
import { createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";

/** Sockets whose name has not arrived. Every process of the host can connect, so there is a limit: the oldest one is closed. */
const MAX_UNNAMED = 256;

interface Listeners {
  /** Called with the name that the other side has sent first. */
  onSocket(name: string, socket: Socket): void;
  /** Called when a socket could not be accepted. */
  onError(error: Error): void;
}

/** Accepts sockets of other processes of Bridge. Each first sends its name of `nameBytes`, which must not be guessable. */
export function acceptNamedSockets(nameBytes: number, { onSocket, onError }: Listeners) {
  const unnamed = new Set<Socket>();
  const id = `bridge-${randomUUID()}`;
  // On Linux, an abstract address leaves no file behind.
  const address = process.platform === "linux" ? `\0${id}` : path.join(tmpdir(), id);

  const server = createServer((socket) => {
    socket.on("error", () => {});
    const [oldest] = unnamed;
    if (unnamed.size === MAX_UNNAMED) oldest?.destroy();
    const readName = (): void => {
      const name = socket.read(nameBytes) as Buffer | null;
      if (name === null) return;
      unnamed.delete(socket);
      socket.off("readable", readName);
      onSocket(name.toString("latin1"), socket);
    };
    unnamed.add(socket);
    socket.once("close", () => unnamed.delete(socket));
    socket.on("readable", readName);
  });
  server.on("error", onError);
  server.listen(address).unref();
  return { address, close: () => server.close() };
}
