import { once } from "node:events";
import { createServer, type IncomingMessage, type OutgoingHttpHeaders, request as requestHttp, type ServerResponse } from "node:http";
import { request as requestHttps } from "node:https";
import type { AddressInfo } from "node:net";
import { hostname } from "node:os";
import { buffer } from "node:stream/consumers";
import { verifyCallback } from "bridge-client";
import { CommandError } from "../command-error.ts";

/** A callback that was received, with the answer that Bridge got. */
export interface ForwardedCallback {
  /** ISO 8601 in UTC. */
  at: string;
  /** Null if the body has none. */
  taskId: string | null;
  webhookId: string | null;
  /** Whether a secret signed it; null without secrets. */
  verified: boolean | null;
  /** Status of the answer to Bridge. */
  status: number;
  durationMs: number;
  /** The beginning of the body of the answer, as text. */
  body: string;
  /** Why the target did not answer; null if it did. */
  error: string | null;
}

/** Options of the forwarder. */
export interface ForwarderOptions {
  target: URL;
  /** 0 selects a free port. */
  port: number;
  host: string;
  /** Without secrets, signatures are not verified. */
  secrets: readonly string[];
  onForwarded(callback: ForwardedCallback): void;
}

/** Bridge waits this long for the answer of a receiver. */
const ANSWER_LIMIT_MS = 15_000;
/** The result of a task with its conversation is smaller. */
const MAX_BODY_BYTES = 64 * 1024 * 1024;
/** Bridge reads at most this much of an answer. */
const MAX_ANSWER_BYTES = 64 * 1024;
/** Bridge stores this much of an answer. */
const SHOWN_BYTES = 1024;

/** An answer of the target, or the one that replaces it. */
interface Answer {
  status: number;
  headers: OutgoingHttpHeaders;
  body: Buffer;
  error: string | null;
}

/** Starts a server that forwards each POST to the target, and returns its answer. Throws a CommandError if it cannot listen. */
export async function startForwarder({ target, port, host, secrets, onForwarded }: ForwarderOptions) {
  const server = createServer((request, response) => {
    void handle(request, response).catch(() => response.destroy());
  });
  // A client may close its sending side after its request. Node's types do not include this property.
  Object.assign(server, { httpAllowHalfOpen: true });
  server.listen(port, host);
  try {
    await once(server, "listening");
  } catch (error) {
    throw new CommandError("usage", `Cannot listen on ${host}, port ${port}: ${(error as Error).message}`, {
      hint: "Choose another --port, or omit it for a free one.",
      cause: error,
    });
  }

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const startedAt = performance.now();
    const at = new Date().toISOString();
    const body = await readBody(request);
    const verified = body === null || secrets.length === 0 ? null : (await verifyCallback(request.headers, body, secrets)) !== null;
    const answer = await answerTo(request, body, verified);
    response.writeHead(answer.status, answer.headers).end(answer.body);
    const webhookId = request.headers["webhook-id"];
    onForwarded({
      at,
      taskId: readTaskId(body),
      webhookId: typeof webhookId === "string" ? webhookId : null,
      verified,
      status: answer.status,
      durationMs: Math.round(performance.now() - startedAt),
      body: answer.body.subarray(0, SHOWN_BYTES).toString("utf8"),
      error: answer.error,
    });
  }

  function answerTo(request: IncomingMessage, body: Buffer | null, verified: boolean | null): Promise<Answer> | Answer {
    if (request.method !== "POST") return refuse(405, `Only POST is forwarded, not ${request.method}.`);
    if (body === null) return refuse(413, `The body is larger than ${MAX_BODY_BYTES / 1024 / 1024} MiB.`);
    if (verified === false) return refuse(401, "Not forwarded: no secret signed this body within the last five minutes.");
    return forward(target, request, body).catch((error: Error) => refuse(502, `${target.origin} did not answer: ${error.message}`));
  }

  const address = server.address() as AddressInfo;
  // Bridge cannot call the address that stands for all addresses of this machine.
  const reachable = /^(0\.0\.0\.0|::)$/.test(address.address) ? hostname() : address.address;
  return {
    /** How Bridge reaches this machine. */
    host: reachable,
    url: `http://${reachable.includes(":") ? `[${reachable}]` : reachable}:${address.port}`,
    async close(): Promise<void> {
      server.close();
      server.closeAllConnections();
      if (server.listening) await once(server, "close");
    },
  };
}

const refuse = (status: number, error: string): Answer => ({
  status,
  headers: { "content-type": "text/plain" },
  body: Buffer.from(error),
  error,
});

/** Reads the body; null if it is too large. */
async function readBody(request: IncomingMessage): Promise<Buffer | null> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes <= MAX_BODY_BYTES) chunks.push(chunk);
  }
  return bytes <= MAX_BODY_BYTES ? Buffer.concat(chunks) : null;
}

/** Headers of one connection, which are not those of the request or the answer itself. */
const connectionHeaders = new Set([
  "connection",
  "keep-alive",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
  "expect",
  "content-length",
]);

/** Sends the request with the same headers and the same bytes. Follows no redirects, as Bridge. */
async function forward(target: URL, { headers }: IncomingMessage, body: Buffer): Promise<Answer> {
  const send = target.protocol === "https:" ? requestHttps : requestHttp;
  const request = send(target, {
    method: "POST",
    headers: { ...omitConnectionHeaders(headers), host: target.host, "content-length": body.length },
    signal: AbortSignal.timeout(ANSWER_LIMIT_MS),
    agent: false,
  });
  request.end(body);
  const [response] = (await once(request, "response")) as [IncomingMessage];
  const received = await buffer(response);
  const { statusCode = 502 } = response;
  return {
    status: statusCode,
    headers: omitConnectionHeaders(response.headers),
    body: received.subarray(0, MAX_ANSWER_BYTES),
    error: null,
  };
}

const omitConnectionHeaders = (headers: IncomingMessage["headers"]): OutgoingHttpHeaders =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => !connectionHeaders.has(name)));

function readTaskId(body: Buffer | null): string | null {
  try {
    const value: unknown = JSON.parse(body?.toString("utf8") ?? "");
    return typeof value === "object" && value !== null && "taskId" in value && typeof value.taskId === "string" ? value.taskId : null;
  } catch {
    return null;
  }
}
