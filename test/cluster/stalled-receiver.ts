import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";

/** A receiver of callbacks that accepts connections and does not respond, until it is revived. */
export interface StalledReceiver {
  readonly origin: string;
  /** The number of its connections at once, at most. */
  readonly mostConnections: number;
  /** Passes new connections to a receiver that responds, and ends the others. */
  revive(): void;
  close(): Promise<void>;
}

/** Starts the receiver. Later, it passes its connections to the receiver at `origin`. */
export async function startStalledReceiver(origin: string): Promise<StalledReceiver> {
  const sockets = new Set<Socket>();
  let mostConnections = 0;
  let isRevived = false;
  const server = createServer((socket) => {
    socket.on("error", () => socket.destroy());
    if (isRevived) return passTo(socket, Number(new URL(origin).port));
    sockets.add(socket);
    mostConnections = Math.max(mostConnections, sockets.size);
    socket.resume();
    socket.once("close", () => sockets.delete(socket));
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const endAll = (): void => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    get mostConnections() {
      return mostConnections;
    },
    revive() {
      isRevived = true;
      endAll();
    },
    async close() {
      endAll();
      server.close();
      await once(server, "close");
    },
  };
}

function passTo(socket: Socket, port: number): void {
  const upstream = connect(port, "127.0.0.1");
  socket.pipe(upstream).pipe(socket);
  for (const [one, other] of [
    [socket, upstream],
    [upstream, socket],
  ] as const)
    one.on("error", () => other.destroy()).on("close", () => other.destroy());
}
