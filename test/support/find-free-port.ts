import { randomInt } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:net";

/** Most systems give no port of this range to a server that listens on port 0, or to an outgoing connection. */
const LOWEST_PORT = 15_000;
const HIGHEST_PORT = 32_000;

/** Finds a port of 127.0.0.1 on which no server listens. It usually stays free, because the system itself gives it to no program. */
export async function findFreePort(): Promise<number> {
  for (;;) {
    const port = randomInt(LOWEST_PORT, HIGHEST_PORT);
    if (await isFree(port)) return port;
  }
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer().listen(port, "127.0.0.1");
  try {
    await once(server, "listening");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EADDRINUSE") return false;
    throw error;
  }
  await once(server.close(), "close");
  return true;
}
