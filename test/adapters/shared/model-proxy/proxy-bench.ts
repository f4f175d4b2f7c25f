import { lookup } from "node:dns";
import { once } from "node:events";
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse, request as sendRequest } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";
import { buffer } from "node:stream/consumers";
import { onTestFinished } from "vitest";
import type { HostLookup, UsageReport } from "#contract";
import type { LocalRoute, ProxyRoute } from "../../../../adapters/shared/model-proxy/proxy-plan.ts";
import { type ModelProxy, openModelProxy, type ProxyLease } from "../../../../adapters/shared/model-proxy/proxy-server.ts";
import type { ProxyTask } from "../../../../adapters/shared/model-proxy/task-route.ts";

export const SECRET = "sk-real-secret";

/** Starts a vendor on 127.0.0.1. Closed at the end of the test. */
export async function openVendor(listener: RequestListener) {
  const sockets = new Set<Socket>();
  const server = createServer({ maxHeaderSize: 256 * 1024 }, listener);
  server.on("connection", (socket) => {
    sockets.add(socket);
    socket.on("error", () => {});
    socket.once("close", () => sockets.delete(socket));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, sockets };
}

/** Opens a proxy. Closed at the end of the test. */
export async function openProxy(findHost = lookup as HostLookup, env: Record<string, string> = {}): Promise<ModelProxy> {
  const proxy = await openModelProxy({ env, lookup: findHost });
  onTestFinished(() => proxy.close());
  return proxy;
}

/** The lease of a task with one route. */
export interface TaskBench {
  lease: ProxyLease;
  local: LocalRoute;
  reports: UsageReport[];
}

/** Opens a route of a task to a vendor. */
export function openTask(proxy: ModelProxy, route: Partial<ProxyRoute> & { baseUrl: string }, task: Partial<ProxyTask> = {}): TaskBench {
  const reports: UsageReport[] = [];
  const lease = proxy.lease({ onCall: (report) => void reports.push(report), mayCall: async () => ({ allowed: true }), ...task }, [
    { name: "main", protocol: "anthropic", secret: SECRET, ...route },
  ]);
  onTestFinished(() => lease.close());
  return { lease, local: lease.local["main"] as LocalRoute, reports };
}

/** Opens a proxy and a task with one route to a vendor that this listener implements. */
export async function openBench(
  listener: RequestListener,
  route: Partial<ProxyRoute> & { path?: string } = {},
  task: Partial<ProxyTask> = {},
) {
  const vendor = await openVendor(listener);
  const proxy = await openProxy();
  const { path = "", ...rest } = route;
  return { vendor, proxy, ...openTask(proxy, { baseUrl: `${vendor.url}${path}`, ...rest }, task) };
}

/** A response with its raw body. */
export interface RawResponse {
  status: number;
  message: IncomingMessage;
  body: Buffer;
}

/** Sends a request with the key of the route in `x-api-key`. */
export async function call(
  { baseUrl, key }: LocalRoute,
  path: string,
  { method = "POST", headers, body }: { method?: string; headers?: Record<string, string>; body?: string | Buffer } = {},
): Promise<RawResponse> {
  const request = sendRequest(`${baseUrl}${path}`, {
    method,
    headers: headers ?? { "x-api-key": key },
    agent: false,
    maxHeaderSize: 256 * 1024,
  });
  request.end(body);
  const [message] = (await once(request, "response")) as [IncomingMessage];
  return { status: message.statusCode ?? 0, message, body: await buffer(message) };
}

/** Sends raw bytes to the proxy, and returns everything that arrives until it closes the connection. */
export async function sendRaw({ baseUrl }: LocalRoute, bytes: string, { halfClose = false } = {}): Promise<string> {
  const socket = connect({ port: Number(new URL(baseUrl).port), host: "127.0.0.1", allowHalfOpen: true });
  socket.on("error", () => {});
  if (halfClose) socket.end(bytes);
  else socket.write(bytes);
  const answer = (await buffer(socket).catch(() => Buffer.alloc(0))).toString("latin1");
  socket.destroy();
  return answer;
}

/** Writes an event stream of Anthropic's protocol with these counts. */
export function sendMessage(response: ServerResponse, { input = 120, output = 30, text = "Hello." } = {}): void {
  response.writeHead(200, { "content-type": "text/event-stream" });
  for (const event of messageEvents({ input, output, text })) response.write(event);
  response.end();
}

/** The events of one message. */
export const messageEvents = ({ input = 120, output = 30, text = "Hello." } = {}): string[] =>
  [
    {
      type: "message_start",
      message: { model: "claude-sonnet-4-5", usage: { input_tokens: input, cache_read_input_tokens: 20, output_tokens: 1 } },
    },
    { type: "content_block_delta", index: 0, delta: { type: "text_delta", text } },
    { type: "message_delta", delta: { stop_reason: "end_turn" }, usage: { output_tokens: output } },
    { type: "message_stop" },
  ].map((data) => `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`);
