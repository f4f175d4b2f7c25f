import { setTimeout as delay } from "node:timers/promises";
import type { AdapterLogger } from "#contract";
import { GatewayError } from "./gateway-error.ts";
import {
  type CallOptions,
  type GatewayAddress,
  type GatewayEvent,
  type GatewaySocket,
  type Hello,
  openGatewaySocket,
} from "./gateway-socket.ts";

const FIRST_DELAY_MS = 250;
const LONGEST_DELAY_MS = 15_000;
/** A connection that lasts for a shorter time counts as a failed attempt. */
const STABLE_MS = 10_000;
const TRANSIENT_CODES = ["DISCONNECTED", "UNAVAILABLE", "TIMEOUT"];

/** Address of a gateway, and the logger for connection failures. */
export interface GatewayOptions extends GatewayAddress {
  logger: AdapterLogger;
}

/** The connection to a gateway. Reconnects whenever it is lost. */
export interface Gateway {
  readonly state: "connecting" | "connected" | "closed";
  /** The gateway's latest handshake response; null before the first connection. */
  readonly hello: Hello | null;
  /** Why there is no connection; null while connected, and until the first attempt fails. */
  readonly failure: GatewayError | null;
  hasMethod(name: string): boolean;
  /**
   * Calls a method of the gateway. Rejects with a GatewayError, immediately if there is no connection; only the first connection attempt is
   * awaited. The gateway rejects unknown params.
   */
  call(method: string, params?: object, options?: CallOptions): Promise<unknown>;
  /** Resolves with the current or the next connection. Rejects when the signal is aborted. */
  waitForConnection(signal?: AbortSignal): Promise<Hello>;
  /** Resolves when the current connection attempt has succeeded or failed; immediately if connected. */
  waitForAttempt(): Promise<void>;
  /** Listens to the gateway's events of all runs and agents. Returns the function that removes the listener. */
  onEvent(listener: (event: GatewayEvent) => void): () => void;
  /** Called after each connect, including the first. Returns the function that removes the listener. */
  onConnected(listener: (hello: Hello) => void): () => void;
  close(): Promise<void>;
}

/** Connects to a gateway, and reconnects until `close()` is called. */
export function createGateway({ url, token, lookup, logger }: GatewayOptions): Gateway {
  const eventListeners = new Set<(event: GatewayEvent) => void>();
  const connectedListeners = new Set<(hello: Hello) => void>();
  const closing = new AbortController();
  let socket: GatewaySocket | null = null;
  let hello: Hello | null = null;
  let failure: GatewayError | null = null;
  let attempt = Promise.withResolvers<void>();

  const onEvent = (event: GatewayEvent): void => {
    for (const listener of eventListeners) listener(event);
  };
  const setFailure = (error: unknown): GatewayError => {
    failure = toGatewayError(error);
    attempt.resolve();
    attempt = Promise.withResolvers();
    return failure;
  };

  const supervise = async (): Promise<void> => {
    let failures = 0;
    let shortConnections = 0;
    while (!closing.signal.aborted) {
      try {
        const newSocket = await openGatewaySocket({ url, token, lookup }, { onEvent, signal: closing.signal });
        [socket, hello, failure, failures] = [newSocket, newSocket.hello, null, 0];
        attempt.resolve();
        logger.info({ version: hello.version, methods: hello.methods.size }, "connected to the OpenClaw gateway");
        for (const listener of connectedListeners) listener(hello);
        const openedAt = performance.now();
        const reason = await newSocket.ended;
        socket = null;
        shortConnections = performance.now() - openedAt < STABLE_MS ? shortConnections + 1 : 0;
        setFailure(reason);
        if (!closing.signal.aborted) logger.warn({ reason: reason.message }, "lost the connection to the OpenClaw gateway");
      } catch (error) {
        const { code, message } = setFailure(error);
        if (failures === 0 && !closing.signal.aborted) logger.warn({ code, reason: message }, "failed to connect to the OpenClaw gateway");
        failures += 1;
      }
      await delay(calculateDelayMs(Math.max(failures, shortConnections - 1), failure), undefined, { signal: closing.signal }).catch(
        () => {},
      );
    }
  };
  const supervision = supervise();

  return {
    get state() {
      if (closing.signal.aborted) return "closed";
      return socket === null ? "connecting" : "connected";
    },
    get hello() {
      return hello;
    },
    get failure() {
      return failure;
    },
    hasMethod: (name) => hello?.methods.has(name) ?? false,
    async call(method, params = {}, options) {
      if (failure === null && socket === null && !closing.signal.aborted) await attempt.promise;
      if (socket === null)
        throw new GatewayError({
          code: "DISCONNECTED",
          message: failure?.message ?? "Bridge is not connected to the gateway yet.",
          retryable: true,
        });
      return await socket.call(method, params, options);
    },
    async waitForConnection(signal) {
      if (socket !== null) return socket.hello;
      const next = Promise.withResolvers<Hello>();
      const stop = AbortSignal.any([closing.signal, ...(signal === undefined ? [] : [signal])]);
      const onAbort = (): void =>
        next.reject(new GatewayError({ code: "ABORTED", message: "The wait for a connection to the gateway was aborted." }));
      if (stop.aborted) onAbort();
      stop.addEventListener("abort", onAbort, { once: true });
      connectedListeners.add(next.resolve);
      return await next.promise.finally(() => {
        connectedListeners.delete(next.resolve);
        stop.removeEventListener("abort", onAbort);
      });
    },
    waitForAttempt: async () => (socket === null ? attempt.promise : undefined),
    onEvent: (listener) => addListener(eventListeners, listener),
    onConnected: (listener) => addListener(connectedListeners, listener),
    async close() {
      closing.abort();
      await supervision;
    },
  };
}

function addListener<T>(listeners: Set<T>, listener: T): () => void {
  listeners.add(listener);
  return () => void listeners.delete(listener);
}

/** Exponential backoff with jitter. A failure that only an operator can fix gets the longest delay. */
function calculateDelayMs(failures: number, failure: GatewayError | null): number {
  const isTransient = failure === null || TRANSIENT_CODES.includes(failure.code);
  const maxMs = isTransient ? Math.min(LONGEST_DELAY_MS, FIRST_DELAY_MS * 2 ** Math.min(failures, 10)) : LONGEST_DELAY_MS;
  const requested = Math.min(failure?.retryAfterMs ?? 0, LONGEST_DELAY_MS);
  return Math.max(requested, maxMs * (0.5 + Math.random() / 2));
}

const toGatewayError = (error: unknown): GatewayError =>
  error instanceof GatewayError ? error : new GatewayError({ code: "INVALID_ADDRESS", message: String(error) });
