import type { IncomingMessage, ServerResponse } from "node:http";
import type { Readable } from "node:stream";
import { nullIfAborted } from "@hak2i/async-kit";
import type { Dispatcher } from "undici";
import type { SpendingAnswer } from "#contract";
import { replaceKeyInHeaders, replaceKeyInQuery } from "./credential.ts";
import { type ForwardEnd, forward } from "./forward.ts";
import { holdCall } from "./hold-call.ts";
import { observeResponse } from "./observe-response.ts";
import type { Protocol, RequestKind } from "./protocol.ts";
import { protocols } from "./protocols/protocols.ts";
import { createRequestReader } from "./request-reader.ts";
import type { TaskRoute } from "./task-route.ts";
import { basePathOf, isBelow } from "./upstream-path.ts";

/** Maximum number of calls of one task at the same time. Each holds a connection to the vendor. */
const MAX_OPEN_CALLS = 128;

/** A request with a valid key. */
interface Call {
  incoming: IncomingMessage;
  response: ServerResponse;
  key: string;
  route: TaskRoute;
  dispatcher: Dispatcher;
}

/** Answers a request of a program with a valid key. Never rejects. */
export async function serveCall(call: Call): Promise<void> {
  const { calls } = call.route;
  const served = serve(call).catch(() => void call.response.destroy());
  calls.add(served);
  await served;
  calls.delete(served);
}

async function serve(call: Call): Promise<void> {
  const { incoming, response, route: taskRoute } = call;
  const { route, calls, signal } = taskRoute;
  const protocol = protocols[route.protocol];
  const [path = ""] = (incoming.url ?? "").split("?", 1);
  const sendError = (status: number, message: string): void => sendJson(response, status, protocol.errorBody(status, message));

  if (!isBelow(path, basePathOf(route.baseUrl))) return sendError(404, "Bridge forwards only requests to the address of the model.");
  const kind = protocol.classify(incoming.method ?? "GET", path);
  if (kind === "deferred") return sendError(403, "Bridge does not forward batches, because no response reports their usage.");
  if (calls.size >= MAX_OPEN_CALLS) return sendError(429, `The task has ${MAX_OPEN_CALLS} open model calls. Wait until one has ended.`);
  let body: Readable = incoming;
  if (kind !== "free") {
    const asked = askToCall(taskRoute, response);
    body = await holdCall(incoming, response, asked);
    const answer = await asked;
    if (signal.aborted || response.destroyed) return void response.destroy();
    if (!answer.allowed) return sendError(protocol.refusalStatus, answer.reason);
  }
  const end = await forwardCall(call, body, { kind, protocol });
  if (end === "whole") return;
  if (response.headersSent || response.destroyed || signal.aborted) return breakOff(response, end);
  sendError(502, `Bridge got no response from the model's address: ${end.message}`);
}

/** Waits until the usage of all responses so far is known, and then asks whether the task may make another call. */
async function askToCall({ task, taps, signal }: TaskRoute, response: ServerResponse): Promise<SpendingAnswer> {
  await Promise.all([...taps].map((tap) => tap.flush()));
  // A program can give up a held call and repeat it. The call that it gave up must not stay open.
  const abandoned = new AbortController();
  response.once("close", () => abandoned.abort());
  return (
    (await nullIfAborted(task.mayCall(), AbortSignal.any([signal, abandoned.signal]))) ?? { allowed: false, reason: "The task has ended." }
  );
}

interface CallForm {
  kind: RequestKind;
  protocol: Protocol;
}

async function forwardCall(call: Call, body: Readable, { kind, protocol }: CallForm): Promise<ForwardEnd> {
  const { incoming, response, key, route: taskRoute, dispatcher } = call;
  const { route, signal } = taskRoute;
  const request = createRequestReader(protocol);
  const observer = observeResponse(taskRoute, { kind, protocol, request });
  const end = await forward(
    incoming,
    response,
    {
      origin: new URL(route.baseUrl).origin,
      path: replaceKeyInQuery(incoming.url ?? "", key, route.secret),
      headers: replaceKeyInHeaders(incoming.rawHeaders, key, route),
      body,
    },
    { dispatcher, signal, observer, onBody: request.add },
  );
  await observer.close();
  return end;
}

/** Ends an incomplete response as the vendor ended it. Some programs repeat a call only after a connection reset. */
function breakOff(response: ServerResponse, error: NodeJS.ErrnoException): void {
  if (error.code === "ECONNRESET") response.socket?.resetAndDestroy();
  response.destroy();
}

function sendJson(response: ServerResponse, status: number, body: unknown): void {
  const text = JSON.stringify(body);
  response.writeHead(status, { "content-type": "application/json", "content-length": Buffer.byteLength(text) }).end(text);
}
