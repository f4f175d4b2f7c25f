import { once } from "node:events";
import { createServer } from "node:net";
import type { Config } from "../config/config.ts";
import { StartError } from "../errors.ts";

const ANSWER_LIMIT_MS = 2000;

/**
 * Checks that the port is free, before a start creates anything: a token that is printed only once would be lost in a failed start. Throws
 * StartError if it is in use. Other errors are left to the start itself.
 */
export async function checkPort({ host, port }: Pick<Config, "host" | "port">): Promise<void> {
  if (port === 0) return;
  const server = createServer();
  try {
    server.listen({ host, port, exclusive: true });
    await once(server, "listening");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EADDRINUSE") return;
    throw new StartError(`Port ${port} of ${host} is in use: ${await describeUser(host, port)}`);
  }
  server.close();
  await once(server, "close");
}

async function describeUser(host: string, port: number): Promise<string> {
  const reached = { "0.0.0.0": "127.0.0.1", "::": "::1" }[host] ?? host;
  const url = `http://${reached.includes(":") ? `[${reached}]` : reached}:${port}/`;
  try {
    const response = await fetch(url, { headers: { accept: "application/json" }, signal: AbortSignal.timeout(ANSWER_LIMIT_MS) });
    const { name, version } = (await response.json()) as { name?: unknown; version?: unknown };
    if (name === "Bridge") return `Bridge ${String(version)} already answers at ${url}. Use it, stop it, or set another BRIDGE_PORT.`;
  } catch {
    // Another server, or none that answers.
  }
  return "another program uses it. Stop that program, or set another BRIDGE_PORT.";
}
