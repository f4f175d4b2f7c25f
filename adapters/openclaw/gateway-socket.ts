import WebSocket from "ws";
import { z } from "zod";
import { type AdapterConfig, parseExactJson, stringifyWellFormed } from "#contract";
import { GatewayError, gatewayErrorSchema } from "./gateway-error.ts";
import { createAbortedError, createPendingCalls } from "./pending-calls.ts";

const PROTOCOL = 4;
const HANDSHAKE_LIMIT_MS = 10_000;
const CALL_LIMIT_MS = 30_000;
/** Applies until the gateway sends its own limit. */
const DEFAULT_MAX_PAYLOAD_BYTES = 25 * 1024 ** 2;
/** The gateway sends an event every tick interval. The connection is closed after this many intervals without a frame. */
const MAX_SILENT_TICKS = 2.5;
/** Error messages of the gateway are truncated to this length. */
const MAX_MESSAGE_LENGTH = 2_000;
const MAX_TICK_MS = 600_000;

const frameSchema = z.discriminatedUnion("type", [
  z.object({ type: z.literal("res"), id: z.string(), ok: z.literal(true), payload: z.unknown() }),
  z.object({ type: z.literal("event"), event: z.string(), payload: z.unknown() }),
]);
const unknownError = { code: "UNAVAILABLE", message: "The gateway returned an error in an unknown format." };
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

/** The gateway's response to the handshake. */
export interface Hello {
  version: string;
  /** Changes at every start of the gateway. */
  bootId: string;
  methods: ReadonlySet<string>;
  /** Scopes granted to this connection. */
  scopes: readonly string[];
  policy: { maxPayload: number; tickIntervalMs: number };
}

/** An event of the gateway, of any run or agent. */
export interface GatewayEvent {
  event: string;
  payload: unknown;
}

/** Options of a gateway call. */
export interface CallOptions {
  /** Time limit of the response, in milliseconds. Default: 30,000. */
  timeoutMs?: number;
  /** Stops waiting for the response. The gateway may still execute the call. */
  signal?: AbortSignal;
  /** For methods with two responses: called with the first, which reports the start of the work. The second has no time limit. */
  onAccepted?(payload: unknown): void;
}

/** Address and credentials of a gateway. */
export interface GatewayAddress {
  url: string;
  token: string | undefined;
  lookup: AdapterConfig["lookup"];
}

/** One WebSocket connection to a gateway, after its handshake. */
export interface GatewaySocket {
  hello: Hello;
  call(method: string, params: object, options?: CallOptions): Promise<unknown>;
  /** Resolves with the reason when the connection has ended. */
  ended: Promise<GatewayError>;
  close(): void;
}

/** Connects to a gateway and performs the handshake. Rejects with a GatewayError. */
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
  const pending = createPendingCalls();
  const challenge = Promise.withResolvers<void>();
  const ended = Promise.withResolvers<GatewayError>();
  let maxPayload = DEFAULT_MAX_PAYLOAD_BYTES;
  let lastId = 0;
  let isClosed = false;
  let watchdog: NodeJS.Timeout | undefined;

  const end = (message: string): void => {
    const error = new GatewayError({ code: "DISCONNECTED", message: redactToken(message, token), retryable: true });
    isClosed = true;
    ended.resolve(error);
    challenge.reject(error);
    clearTimeout(watchdog);
    signal.removeEventListener("abort", abort);
    pending.rejectAll(error);
    socket.terminate();
  };
  const abort = (): void => end("Bridge closed the connection to the gateway.");

  const call: GatewaySocket["call"] = (method, params, { timeoutMs = CALL_LIMIT_MS, signal: callerSignal, onAccepted } = {}) => {
    if (socket.readyState !== WebSocket.OPEN) return Promise.reject(createDisconnectedError());
    if (callerSignal?.aborted) return Promise.reject(createAbortedError(method));
    if (pending.isFull()) return Promise.reject(createTooManyError());
    lastId += 1;
    const id = String(lastId);
    const frame = stringifyWellFormed({ type: "req", id, method, params });
    const bytes = Buffer.byteLength(frame);
    if (bytes > maxPayload) return Promise.reject(createTooLargeError(method, bytes, maxPayload));
    if (socket.bufferedAmount > 2 * maxPayload) return Promise.reject(createTooManyError());
    const response = pending.add(id, method, { timeoutMs, signal: callerSignal, onAccepted });
    socket.send(frame);
    return response;
  };

  const handleFrame = (json: unknown): void => {
    const frame = frameSchema.safeParse(json).data;
    if (frame === undefined) {
      const failed = errorFrameSchema.safeParse(json).data;
      if (failed !== undefined)
        pending.reject(failed.id, new GatewayError({ ...failed.error, message: redactToken(failed.error.message, token) }));
    } else if (frame.type === "event") {
      if (frame.event === "connect.challenge") challenge.resolve();
      else onEvent({ event: frame.event, payload: frame.payload });
    } else pending.resolve(frame.id, frame.payload);
  };

  socket.on("message", (data) => {
    // Ignore frames that were received together with an invalid one.
    if (isClosed) return;
    watchdog?.refresh();
    try {
      handleFrame(parseExactJson(data.toString()));
    } catch {
      end("The gateway sent a frame that does not follow its protocol.");
    }
  });
  socket.on("unexpected-response", (_, response) => end(explainResponse(response.statusCode)));
  // Network errors contain the address, but not the token.
  socket.on("error", (error) => end(`The connection to the gateway failed: ${error.message}`));
  socket.on("close", (code, reason) => end(`The gateway closed the connection (${code}${reason.length > 0 ? ` ${reason}` : ""}).`));
  if (signal.aborted) abort();
  else signal.addEventListener("abort", abort, { once: true });
  const handshakeTimer = setTimeout(
    () => end(`The gateway did not start the handshake within ${HANDSHAKE_LIMIT_MS / 1000} s.`),
    HANDSHAKE_LIMIT_MS,
  );

  try {
    await challenge.promise;
    const hello = helloSchema.parse(await call("connect", createConnectParams(token), { timeoutMs: HANDSHAKE_LIMIT_MS }));
    const { server, features, auth, policy } = hello;
    maxPayload = policy.maxPayload;
    watchdog = setTimeout(() => end("The gateway sent nothing for too long."), MAX_SILENT_TICKS * policy.tickIntervalMs);
    return {
      hello: { ...server, methods: new Set(features.methods), scopes: auth.scopes, policy },
      call,
      ended: ended.promise,
      close: abort,
    };
  } catch (error) {
    end("The handshake with the gateway failed.");
    throw error instanceof z.ZodError
      ? new GatewayError({ code: "INVALID_HELLO", message: "The server does not follow the protocol of an OpenClaw gateway." })
      : error;
  } finally {
    clearTimeout(handshakeTimer);
  }
}

/** Messages of the gateway appear in logs and API responses, so they must not contain the token. */
const redactToken = (message: string, token: string | undefined): string =>
  (token === undefined ? message : message.replaceAll(token, "[redacted]")).slice(0, MAX_MESSAGE_LENGTH);

/**
 * Creates the params of `connect`. The gateway grants these scopes to a client with a shared secret only over loopback. `tool-events`
 * subscribes to the events of tools.
 */
const createConnectParams = (token: string | undefined) => ({
  minProtocol: PROTOCOL,
  maxProtocol: PROTOCOL,
  client: { id: "gateway-client", version: "0.1.0", platform: process.platform, mode: "backend" },
  role: "operator",
  scopes: ["operator.admin", "operator.read", "operator.write", "operator.approvals"],
  caps: ["tool-events", "exec-approvals"],
  ...(token === undefined ? {} : { auth: { token } }),
});

function explainResponse(statusCode: number | undefined): string {
  if (statusCode === 503) return "The gateway is still starting (HTTP 503).";
  if (statusCode === 403) return "The gateway rejects connections through a proxy (HTTP 403).";
  return `The server is not a gateway: it returned HTTP ${statusCode} instead of opening a WebSocket. Check BRIDGE_OPENCLAW_URL.`;
}

const createDisconnectedError = () =>
  new GatewayError({ code: "DISCONNECTED", message: "There is no connection to the gateway.", retryable: true });
const createTooManyError = () =>
  new GatewayError({ code: "TOO_MANY", message: "Too many calls to the gateway are waiting for a response.", retryable: true });
const createTooLargeError = (method: string, bytes: number, limit: number) =>
  new GatewayError({ code: "TOO_LARGE", message: `The call of ${method} has ${bytes} bytes; the gateway accepts at most ${limit}.` });
