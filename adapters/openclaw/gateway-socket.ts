import WebSocket from "ws";
import { z } from "zod";
import type { AdapterConfig } from "#contract";
import { GatewayError, gatewayErrorSchema } from "./gateway-error.ts";

const PROTOCOL = 4;
const HANDSHAKE_LIMIT_MS = 10_000;
const CALL_LIMIT_MS = 30_000;
/** Until the gateway has told its own limit. */
const DEFAULT_MAX_PAYLOAD_BYTES = 25 * 1024 ** 2;
const MAX_PENDING_CALLS = 1_000;
/** A gateway ticks; one that has been silent for so many ticks is dead. */
const MAX_SILENT_TICKS = 2.5;
/** How much of what a gateway says in an error is kept. */
const MAX_MESSAGE_LENGTH = 2_000;
const MAX_TICK_MS = 600_000;

const frameSchema = z.discriminatedUnion("type", [
  z.object({ type: z.literal("res"), id: z.string(), ok: z.literal(true), payload: z.unknown() }),
  z.object({ type: z.literal("event"), event: z.string(), payload: z.unknown() }),
]);
const unknownError = { code: "UNAVAILABLE", message: "The gateway refuses this in a way that Bridge does not know." };
const errorFrameSchema = z.object({
  type: z.literal("res"),
  id: z.string(),
  ok: z.literal(false),
  error: gatewayErrorSchema.catch(unknownError),
});
const helloSchema = z.object({
  protocol: z.literal(PROTOCOL).default(PROTOCOL),
  server: z.object({ version: z.string(), bootId: z.string().catch("") }),
  features: z.object({ methods: z.array(z.string()) }),
  auth: z.object({ scopes: z.array(z.string()).catch([]) }).catch({ scopes: [] }),
  policy: z.object({ maxPayload: z.number().positive(), tickIntervalMs: z.number().positive().max(MAX_TICK_MS).catch(MAX_TICK_MS) }),
});

/** What a gateway says of itself to whoever connects. */
export interface Hello {
  version: string;
  /** Another one after every start of the gateway. */
  bootId: string;
  methods: ReadonlySet<string>;
  /** What this connection may do. */
  scopes: readonly string[];
  policy: { maxPayload: number; tickIntervalMs: number };
}

/** An event of a gateway, whoever it concerns. */
export interface GatewayEvent {
  event: string;
  payload: unknown;
}

/** How a call is made. */
export interface CallOptions {
  /** How long the answer may take. Default: 30,000 */
  timeoutMs?: number;
  /** Gives the answer up; what was asked for may be done all the same. */
  signal?: AbortSignal;
  /** For calls with two answers: takes the first, that the work has begun. The second has no time limit. */
  onAccepted?(payload: unknown): void;
}

/** Where a gateway is, and how to get in. */
export interface GatewayAddress {
  url: string;
  token: string | undefined;
  lookup: AdapterConfig["lookup"];
}

/** One connection to a gateway, from its handshake to its end. */
export interface GatewaySocket {
  hello: Hello;
  call(method: string, params: object, options?: CallOptions): Promise<unknown>;
  /** Resolves with the reason when the connection has ended. */
  ended: Promise<GatewayError>;
  close(): void;
}

interface PendingCall {
  resolve(payload: unknown): void;
  reject(error: Error): void;
  onAccepted: ((payload: unknown) => void) | undefined;
  timer: NodeJS.Timeout;
}

/** Connects to a gateway and shakes hands; rejects with what the gateway, or the network, has against it. */
export async function openGatewaySocket(
  { url, token, lookup }: GatewayAddress,
  { onEvent, signal }: { onEvent(event: GatewayEvent): void; signal: AbortSignal },
): Promise<GatewaySocket> {
  const socket = new WebSocket(url, {
    handshakeTimeout: HANDSHAKE_LIMIT_MS,
    maxPayload: DEFAULT_MAX_PAYLOAD_BYTES,
    perMessageDeflate: false,
    lookup,
  });
  const pending = new Map<string, PendingCall>();
  const challenged = Promise.withResolvers<void>();
  const ended = Promise.withResolvers<GatewayError>();
  let maxPayload = DEFAULT_MAX_PAYLOAD_BYTES;
  let lastId = 0;
  let isClosed = false;
  let watchdog: NodeJS.Timeout | undefined;

  /** Whatever a gateway says is logged, and shown to whoever asks: never our token. */
  const said = (words: string): string =>
    (token === undefined ? words : words.replaceAll(token, "[redacted]")).slice(0, MAX_MESSAGE_LENGTH);
  const end = (message: string): void => {
    const error = new GatewayError({ code: "DISCONNECTED", message: said(message), retryable: true });
    isClosed = true;
    ended.resolve(error);
    challenged.reject(error);
    clearTimeout(watchdog);
    signal.removeEventListener("abort", abort);
    for (const call of pending.values()) call.reject(error);
    socket.terminate();
  };
  const abort = (): void => end("The connection to the gateway was closed by Bridge.");
  const settle = (id: string): PendingCall | undefined => {
    const call = pending.get(id);
    pending.delete(id);
    clearTimeout(call?.timer);
    return call;
  };

  const call: GatewaySocket["call"] = (method, params, { timeoutMs = CALL_LIMIT_MS, signal: given, onAccepted } = {}) => {
    if (socket.readyState !== WebSocket.OPEN) return Promise.reject(disconnected());
    if (given?.aborted) return Promise.reject(aborted(method));
    if (pending.size >= MAX_PENDING_CALLS) return Promise.reject(tooMany());
    lastId += 1;
    const id = String(lastId);
    const frame = JSON.stringify({ type: "req", id, method, params });
    const bytes = Buffer.byteLength(frame);
    if (bytes > maxPayload) return Promise.reject(tooLarge(method, bytes, maxPayload));
    if (socket.bufferedAmount > 2 * maxPayload) return Promise.reject(tooMany());
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    const timer = setTimeout(() => settle(id)?.reject(late(method, timeoutMs)), timeoutMs);
    const onAbort = (): void => settle(id)?.reject(aborted(method));
    given?.addEventListener("abort", onAbort, { once: true });
    pending.set(id, { resolve, reject, onAccepted, timer });
    socket.send(frame);
    return promise.finally(() => {
      settle(id);
      given?.removeEventListener("abort", onAbort);
    });
  };

  const take = (json: unknown): void => {
    const frame = frameSchema.safeParse(json).data;
    if (frame === undefined) {
      const refused = errorFrameSchema.safeParse(json).data;
      if (refused !== undefined) settle(refused.id)?.reject(new GatewayError({ ...refused.error, message: said(refused.error.message) }));
    } else if (frame.type === "event") {
      if (frame.event === "connect.challenge") challenged.resolve();
      else onEvent({ event: frame.event, payload: frame.payload });
    } else {
      const waiting = pending.get(frame.id);
      if (waiting?.onAccepted === undefined || !isAccepted(frame.payload)) settle(frame.id)?.resolve(frame.payload);
      else {
        clearTimeout(waiting.timer);
        waiting.onAccepted(frame.payload);
      }
    }
  };

  socket.on("message", (data) => {
    // What was read in one go with the frame that was too much.
    if (isClosed) return;
    watchdog?.refresh();
    try {
      take(JSON.parse(data.toString()));
    } catch {
      end("The gateway sent a frame that is not of its protocol.");
    }
  });
  socket.on("unexpected-response", (_, response) => end(explainResponse(response.statusCode)));
  // The words of the network name the address, never the token.
  socket.on("error", (error) => end(`The connection to the gateway failed: ${error.message}`));
  socket.on("close", (code, reason) => end(`The gateway closed the connection (${code}${reason.length > 0 ? ` ${reason}` : ""}).`));
  if (signal.aborted) abort();
  else signal.addEventListener("abort", abort, { once: true });
  const handshakeTimer = setTimeout(() => end("The gateway did not begin its handshake in time."), HANDSHAKE_LIMIT_MS);

  try {
    await challenged.promise;
    const hello = helloSchema.parse(await call("connect", connectParams(token), { timeoutMs: HANDSHAKE_LIMIT_MS }));
    const { server, features, auth, policy } = hello;
    maxPayload = policy.maxPayload;
    watchdog = setTimeout(() => end("The gateway has been silent for too long."), MAX_SILENT_TICKS * policy.tickIntervalMs);
    return {
      hello: { ...server, methods: new Set(features.methods), scopes: auth.scopes, policy },
      call,
      ended: ended.promise,
      close: abort,
    };
  } catch (error) {
    end("The handshake with the gateway failed.");
    throw error instanceof z.ZodError
      ? new GatewayError({ code: "INVALID_HELLO", message: "What answers there does not speak as an OpenClaw gateway does." })
      : error;
  } finally {
    clearTimeout(handshakeTimer);
  }
}

/** A backend with a shared secret keeps its scopes on loopback only; `tool-events` is what brings the events of tools. */
const connectParams = (token: string | undefined) => ({
  minProtocol: PROTOCOL,
  maxProtocol: PROTOCOL,
  client: { id: "gateway-client", version: "0.1.0", platform: process.platform, mode: "backend" },
  role: "operator",
  scopes: ["operator.admin", "operator.read", "operator.write", "operator.approvals"],
  caps: ["tool-events", "exec-approvals"],
  ...(token === undefined ? {} : { auth: { token } }),
});

const isAccepted = (payload: unknown): boolean =>
  typeof payload === "object" && payload !== null && "status" in payload && payload.status === "accepted";

function explainResponse(statusCode: number | undefined): string {
  if (statusCode === 503) return "The gateway is still starting (HTTP 503).";
  if (statusCode === 403) return "The gateway refuses connections that come through a proxy (HTTP 403).";
  return `What answers there is not a gateway: HTTP ${statusCode} instead of a WebSocket. Check BRIDGE_OPENCLAW_URL.`;
}

const disconnected = () => new GatewayError({ code: "DISCONNECTED", message: "There is no connection to the gateway.", retryable: true });
const aborted = (method: string) => new GatewayError({ code: "ABORTED", message: `The call of ${method} was given up.` });
const tooMany = () => new GatewayError({ code: "TOO_MANY", message: "Too many calls of the gateway wait for an answer.", retryable: true });
const late = (method: string, timeoutMs: number) =>
  new GatewayError({ code: "TIMEOUT", message: `The gateway did not answer ${method} within ${timeoutMs / 1000} s.`, retryable: true });
const tooLarge = (method: string, bytes: number, limit: number) =>
  new GatewayError({ code: "TOO_LARGE", message: `The call of ${method} has ${bytes} bytes; the gateway takes ${limit}.` });
