import type { IncomingHttpHeaders } from "node:http";
import { Transform } from "node:stream";
import type { FastifyReply, FastifyRequest, onRequestAsyncHookHandler } from "fastify";
import type { Logger } from "pino";
import { Agent } from "undici";
import { BridgeError } from "../../errors.ts";
import type { ClusterNode } from "../../store/nodes/interface.ts";

/** The header of a request that a node has passed on. */
const HOP_HEADER = "bridge-hop";

/** Maximum time to connect to a node. */
const CONNECT_MS = 5_000;
/** Maximum time until the first byte of the response. Longer than the time limit of a call of a runtime, which the other node reports. */
const FIRST_BYTE_MS = 75_000;
/** Maximum time between two parts of a response, for a client that reads. */
const STALLED_MS = 60_000;
/** `Retry-After` of a node that does not run, which can return on another host. */
const AWAY_RETRY_SECONDS = 15;

/** Returns the id of the node that a request belongs to; null if this node answers it. */
export type Locate = (request: FastifyRequest) => Promise<string | null> | string | null;

/** Passes requests to the nodes that they belong to. */
export interface Forwarder {
  /** Creates a hook that passes on the requests of its routes. It runs after authentication and before the body is read. */
  createHook(locate: Locate): onRequestAsyncHookHandler;
  close(): Promise<void>;
}

/** Options of `createForwarder`. The time limit is for tests. */
export interface ForwarderOptions {
  view: ForwardingView;
  logger: Logger;
  firstByteMs?: number;
}

/** The part of the view of nodes that forwarding uses. */
export interface ForwardingView {
  readonly self: Pick<ClusterNode, "id" | "files">;
  nodes(): readonly ClusterNode[];
}

/**
 * Creates the forwarder. A request makes one hop, with the headers of its caller, so that the other node authenticates the caller itself.
 * Bodies are streamed in both directions, and redirects are not followed.
 */
export function createForwarder({ view, logger, firstByteMs = FIRST_BYTE_MS }: ForwarderOptions): Forwarder {
  const agent = new Agent({ connect: { timeout: CONNECT_MS }, headersTimeout: firstByteMs, bodyTimeout: STALLED_MS });

  async function pass(request: FastifyRequest, reply: FastifyReply, node: ClusterNode & { url: string }): Promise<FastifyReply> {
    const { method } = request;
    const target = locateOn(node.url, request.url);
    const gone = new AbortController();
    reply.raw.once("close", () => gone.abort());
    try {
      const { statusCode, headers, body } = await agent.request({
        ...target,
        method: method as "GET",
        headers: { ...keepEndToEnd(request.headers), [HOP_HEADER]: "1", "x-request-id": request.id },
        // undici destroys the stream at its end, and with the request itself, its socket would be lost.
        body: hasBody(request) ? request.raw.pipe(limitBody(request.routeOptions.bodyLimit)) : null,
        signal: gone.signal,
      });
      request.isForwarded = true;
      reply.code(statusCode).headers(keepEndToEnd(headers));
      if (method !== "HEAD" && statusCode !== 204 && statusCode !== 304) return reply.send(body);
      await body.dump();
      return reply.send();
    } catch (error) {
      if (error instanceof BridgeError) {
        // The rest of the body is not read.
        reply.header("connection", "close");
        throw error;
      }
      logger.warn({ err: error, node: node.name, url: node.url, route: request.routeOptions.url }, "failed to pass a request to its node");
      throw new BridgeError("node_unavailable", `${describeFailure(node, error, firstByteMs)}${method === "GET" ? "" : UNKNOWN_OUTCOME}`, {
        retryAfterSeconds: AWAY_RETRY_SECONDS,
      });
    }
  }

  return {
    createHook: (locate) => async (request, reply) => {
      const id = await locate(request);
      if (id === null || id === view.self.id || exceedsLimit(request)) return;
      const node = view.nodes().find((known) => known.id === id);
      if (request.headers[HOP_HEADER] !== undefined) throw createLoopError(node?.name ?? id);
      return pass(request, reply, requireReachable(node, id));
    },
    close: () => agent.destroy(),
  };
}

/** Throws BridgeError if the node does not run, or if the other nodes do not know its address. */
function requireReachable(node: ClusterNode | undefined, id: string): ClusterNode & { url: string } {
  const fail = (detail: string): never => {
    throw new BridgeError("node_unavailable", detail, { retryAfterSeconds: AWAY_RETRY_SECONDS });
  };
  if (node === undefined) return fail(`This belongs to a node that no longer exists (${id}).`);
  const { name, url, isAlive } = node;
  if (!isAlive) return fail(`This belongs to the node ${name}, which is not running. Start it, or try again later.`);
  if (url === null)
    return fail(`This belongs to the node ${name}, whose address is unknown. Set BRIDGE_NODE_URL on ${name}, or send the request to it.`);
  return { ...node, url };
}

const createLoopError = (name: string): BridgeError =>
  new BridgeError("loop_detected", `Another node has passed on this request, but it belongs to the node ${name}. Send it again.`);

const UNKNOWN_OUTCOME = " The outcome of the request is unknown. Read the current state before you try again.";

function describeFailure({ name }: ClusterNode, error: unknown, firstByteMs: number): string {
  const code = error instanceof Error && "code" in error ? error.code : "";
  if (code === "UND_ERR_HEADERS_TIMEOUT") return `The node ${name} did not answer within ${firstByteMs / 1000} s.`;
  return `The node ${name} cannot be reached. Check that BRIDGE_NODE_URL of ${name} is its address for this node.`;
}

/** Passes a body through up to the limit. The other node would close the connection while it still receives the body. */
function limitBody(limitBytes: number): Transform {
  let bytes = 0;
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      bytes += chunk.length;
      if (bytes > limitBytes) done(new BridgeError("too_large", `The body is larger than the limit of ${limitBytes} bytes.`));
      else done(null, chunk);
    },
  });
}

/** Fastify rejects a body that is too long by its declared length, without reading it. */
const exceedsLimit = ({ headers, routeOptions }: FastifyRequest): boolean =>
  Number(headers["content-length"] ?? 0) > routeOptions.bodyLimit;

const hasBody = ({ headers }: FastifyRequest): boolean =>
  headers["transfer-encoding"] !== undefined || Number(headers["content-length"] ?? 0) > 0;

/** The URL of a node can have a path, for example behind a proxy. */
function locateOn(nodeUrl: string, target: string): { origin: string; path: string } {
  const { origin, pathname } = new URL(nodeUrl);
  return { origin, path: `${pathname.replace(/\/$/, "")}${target}` };
}

/** Headers that concern one connection (RFC 9110, section 7.6.1), or that the connection to the node sets. */
const hopByHop: ReadonlySet<string> = new Set([
  ...["connection", "keep-alive", "proxy-authenticate", "proxy-authorization", "proxy-connection", "te", "trailer", "transfer-encoding"],
  ...["upgrade", "host", "expect", "http2-settings"],
]);

function keepEndToEnd(headers: IncomingHttpHeaders): Record<string, string | string[]> {
  const named = String(headers.connection ?? "")
    .split(",")
    .map((name) => name.trim().toLowerCase());
  return Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) =>
      value === undefined || hopByHop.has(name) || named.includes(name) ? [] : [[name, value]],
    ),
  );
}

declare module "fastify" {
  interface FastifyRequest {
    /** Whether another node answers the request. */
    isForwarded?: boolean;
  }
}
