import type { Socket } from "node:net";

/**
 * How often Bridge writes to a client that has closed its sending side. A client that has gone looks the same until its
 * system rejects what Bridge writes, which the next write reports.
 */
const HALF_CLOSED_CHECK_MS = 500;

/** Calls the function at each check from when the client closes its sending side. The result stops the calls. */
export function checkHalfClosed(socket: Socket, check: () => void): () => void {
  let timer: NodeJS.Timeout | undefined;
  const start = (): void => {
    timer = setInterval(check, HALF_CLOSED_CHECK_MS).unref();
  };
  if (socket.readableEnded) start();
  else socket.once("end", start);
  return () => {
    socket.off("end", start);
    clearInterval(timer);
  };
}
