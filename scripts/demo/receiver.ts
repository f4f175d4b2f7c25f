import { EventEmitter, on, once } from "node:events";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import type { CallbackBody } from "bridge-client";
import { Webhook } from "standardwebhooks";

/** A callback with a valid signature. */
export interface ReceivedCallback {
  /** The number of requests with this `webhook-id`, which is the same on every attempt. */
  attempt: number;
  id: string;
  signature: string;
  body: CallbackBody;
}

/** A callback receiver. */
export interface Receiver {
  url: string;
  /** Resolves to the next callback; rejects for an invalid signature, and when the signal aborts. */
  next(): Promise<ReceivedCallback>;
  close(): Promise<void>;
}

/** Receives callbacks on a free loopback port. A library that shares no code with Bridge verifies the signatures. */
export async function startReceiver({ secret, signal }: { secret: string; signal: AbortSignal }): Promise<Receiver> {
  const webhook = new Webhook(secret);
  const attempts = new Map<string, number>();
  const emitter = new EventEmitter();
  const arrivals = on(emitter, "arrival", { signal });
  const server = createServer((request, response) => {
    const arrival = receive(request);
    arrival.then(
      () => response.writeHead(204).end(),
      () => response.writeHead(401).end(),
    );
    emitter.emit("arrival", arrival);
  });

  async function receive(request: IncomingMessage): Promise<ReceivedCallback> {
    const bytes = Buffer.concat(await request.toArray());
    const headers = Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name, String(value)]));
    const { "webhook-id": id = "", "webhook-signature": signature = "" } = headers;
    const body = webhook.verify(bytes, headers) as ReceivedCallback["body"];
    const attempt = (attempts.get(id) ?? 0) + 1;
    attempts.set(id, attempt);
    return { attempt, id, signature, body };
  }

  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async next() {
      const { value, done } = await arrivals.next();
      if (done) throw new Error("The receiver is closed.");
      return value[0];
    },
    async close() {
      server.close();
      server.closeAllConnections();
      await once(server, "close");
    },
  };
}
