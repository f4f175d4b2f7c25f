import { randomInt } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:net";

/** Most systems give no port of this range to a server that listens on port 0, or to an outgoing connection. */
const LOWEST_PORT = 15_000;
const HIGHEST_PORT = 32_000;

/** Finds a port of 127.0.0.1 that no server uses, and that stays free until a program listens on it, also after that program was restarted. */
export async function findFreePort(): Promise<number> {
  for (;;) {
    const port = randomInt(LOWEST_PORT, HIGHEST_PORT);
    if (await isFree(port)) return port;
  }
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer().listen(port, "127.0.0.1");
  const isListening = await once(server, "listening").then(
    () => true,
    () => false,
  );
  if (isListening) await once(server.close(), "close");
  return isListening;
}
