import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { EventSource } from "eventsource";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { eventTypes } from "../../src/contract/index.ts";

type FollowEvents = (
  url: string,
  createTicket: () => Promise<{ ticket: string }>,
  onEvent: (type: string, event: unknown) => void,
  options?: { lastEventId?: string; retryDelayMs?: number },
) => () => void;

let followEvents: FollowEvents;
let server: ReturnType<typeof createServer>;
let url: string;
let minted: number;
let stop = (): void => {};
/** The query and the stream of each accepted connection. */
let connections: { query: Record<string, string>; stream: ServerResponse }[];

/** Starts a server that accepts each ticket once and rejects all others, like Bridge. */
beforeEach(async () => {
  vi.stubGlobal("EventSource", EventSource);
  ({ followEvents } = (await import("../../examples/browser/follow-events.js" as string)) as { followEvents: FollowEvents });
  const valid = new Set<string>();
  connections = [];
  minted = 0;
  server = createServer((request, response) => {
    const query = Object.fromEntries(new URL(request.url ?? "", "http://localhost").searchParams);
    if (request.method === "POST") {
      valid.add(`ticket-${++minted}`);
      response.end(JSON.stringify({ ticket: `ticket-${minted}` }));
    } else if (valid.delete(query["ticket"] ?? "")) {
      response.writeHead(200, { "content-type": "text/event-stream" }).write("retry: 5\n: welcome\n\n");
      connections.push({ query, stream: response });
    } else response.writeHead(401).end();
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterEach(() => {
  stop();
  server.closeAllConnections();
  server.close();
  vi.unstubAllGlobals();
});

const createTicket = async (): Promise<{ ticket: string }> => (await (await fetch(url, { method: "POST" })).json()) as { ticket: string };
const send = (stream: ServerResponse | undefined, id: string, type: string, data: object): void =>
  void stream?.write(`id: ${id}\nevent: ${type}\ndata: ${JSON.stringify(data)}\n\n`);

test("the browser example reconnects with a new ticket and the last id, and misses no event", async () => {
  const seen: [string, unknown][] = [];
  stop = followEvents(url, createTicket, (type, event) => seen.push([type, event]), { retryDelayMs: 10 });

  await vi.waitFor(() => expect(connections).toHaveLength(1));
  expect(connections[0]?.query).toEqual({ ticket: "ticket-1" });
  send(connections[0]?.stream, "e-1", "execution.started", { n: 1 });
  await vi.waitFor(() => expect(seen).toHaveLength(1));
  connections[0]?.stream.write('event: stream.closing\ndata: {"reason":"shutdown"}\n\n');
  connections[0]?.stream.end();

  await vi.waitFor(() => expect(connections).toHaveLength(2));
  expect(connections[1]?.query).toEqual({ ticket: "ticket-2", lastEventId: "e-1" });
  send(connections[1]?.stream, "e-2", "execution.completed", { n: 2 });
  await vi.waitFor(() => expect(seen).toHaveLength(2));
  expect(seen).toEqual([
    ["execution.started", { n: 1 }],
    ["execution.completed", { n: 2 }],
  ]);
});

test("the browser example receives every type of event, and the report of a gap", async () => {
  const received = new Set<string>();
  stop = followEvents(url, createTicket, (type) => received.add(type));
  await vi.waitFor(() => expect(connections).toHaveLength(1));
  for (const type of [...eventTypes, "stream.gap"]) send(connections[0]?.stream, "e-9", type, {});
  await vi.waitFor(() => expect(received).toEqual(new Set([...eventTypes, "stream.gap"])));
});

test("the browser example retries while it gets no ticket, and ends when it is stopped", async () => {
  let refused = 0;
  const mintSometimes = async () => {
    if (refused++ < 3) throw new Error("no network");
    return createTicket();
  };
  stop = followEvents(url, mintSometimes, () => {}, { retryDelayMs: 5, lastEventId: "e-7" });
  await vi.waitFor(() => expect(connections).toHaveLength(1));
  expect(connections[0]?.query).toEqual({ ticket: "ticket-1", lastEventId: "e-7" });

  const closed = once(connections[0]?.stream as ServerResponse, "close");
  stop();
  await closed;
  expect(minted).toBe(1);
});
