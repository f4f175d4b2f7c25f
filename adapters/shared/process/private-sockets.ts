import { randomUUID } from "node:crypto";
import { openSync, unlinkSync } from "node:fs";
import { createServer, type Server, type Socket } from "node:net";
import path from "node:path";
import { hasDescriptorPaths, holdDirectory, O_PATH } from "@hak2i/nofollow-fs";

/** A descriptor that the caller closes, for a process that inherits it and connects to its path in `/proc/self/fd`; or a path. */
export type Address = { descriptor: number } | { path: string };

interface Listeners {
  /** Called with the token that the other side has sent first. */
  onSocket(token: string, socket: Socket): void;
  /** Called when sockets cannot be accepted. */
  onError(error: Error): void;
}

/**
 * Accepts sockets of other processes of Bridge, each of which first sends a token of `tokenBytes`. The address is a file in `directory`
 * whose name is removed at once, so that no sandboxed task and no other user can connect. Throws if it cannot be created.
 */
export function acceptPrivateSockets(directory: string, tokenBytes: number, { onSocket, onError }: Listeners) {
  const server = createServer((socket) => {
    // A program need not read its input, so a broken pipe is not an error. Readers learn from `close` that the socket has ended.
    socket.on("error", () => {});
    const readToken = (): void => {
      const token = socket.read(tokenBytes) as Buffer | null;
      if (token === null) return;
      socket.off("readable", readToken);
      onSocket(token.toString("latin1"), socket);
    };
    socket.on("readable", readToken);
  });
  let hasAddress = false;
  // If there is no address, the caller gets the error of `listen`.
  server.on("error", (error) => hasAddress && onError(error));
  server.unref();
  const address = listen(server, directory);
  hasAddress = true;
  return { address, close: () => server.close() };
}

/** Binds the socket, which has happened when `listen` of Node returns. */
function listen(server: Server, directory: string): Address {
  using held = holdDirectory(directory);
  if (held === null) throw new Error(`${directory} is not a directory.`);
  // The path of the open directory is short enough for an address, which has at most 107 bytes.
  const file = path.join(held.path, `starter-${randomUUID()}`);
  server.listen(file);
  // On other systems the name remains until the server closes.
  if (!hasDescriptorPaths) return { path: path.join(directory, path.basename(file)) };
  const descriptor = openSync(file, O_PATH);
  unlinkSync(file);
  return { descriptor };
}
