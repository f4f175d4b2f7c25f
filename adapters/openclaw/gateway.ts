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
/** A connection that breaks sooner counts as one more that did not come about. */
const STABLE_MS = 10_000;
const TRANSIENT_CODES = ["DISCONNECTED", "UNAVAILABLE", "TIMEOUT"];

/** Where a gateway is, and who is told what goes wrong on the way there. */
export interface GatewayOptions extends GatewayAddress {
  logger: AdapterLogger;
}

/** The one connection to a gateway, made again whenever it breaks. */
export interface Gateway {
  readonly state: "connecting" | "connected" | "closed";
  /** What the gateway said of itself; null before the first connection, kept while it is made again. */
  readonly hello: Hello | null;
  /** Why there is no connection; null while there is one, or before the first try has failed. */
  readonly failure: GatewayError | null;
  hasMethod(name: string): boolean;
  /**
   * Asks the gateway; rejects with a GatewayError, at once when there is no connection; only the first try is waited for. Params are strict: no field
   * that it does not know.
   */
  call(method: string, params?: object, options?: CallOptions): Promise<unknown>;
  /** Resolves with the next connection, or the one there is; rejects when the signal is aborted. */
  connected(signal?: AbortSignal): Promise<Hello>;
  /** Resolves when a try to connect has come to an end, whichever; at once when connected. */
  tried(): Promise<void>;
  /** Listens to the events of the gateway, of all runs and agents; answers how to stop that. */
  onEvent(listener: (event: GatewayEvent) => void): () => void;
  /** Listens to connections being made: the first one, too. */
  onConnected(listener: (hello: Hello) => void): () => void;
  close(): Promise<void>;
}

/** Connects to a gateway, and stays connected until it is closed. */
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
    failure = asGatewayError(error);
    attempt.resolve();
    attempt = Promise.withResolvers();
    return failure;
  };

  const supervise = async (): Promise<void> => {
    let failures = 0;
    let shortLived = 0;
    while (!closing.signal.aborted) {
      try {
        const opened = await openGatewaySocket({ url, token, lookup }, { onEvent, signal: closing.signal });
        [socket, hello, failure, failures] = [opened, opened.hello, null, 0];
        attempt.resolve();
        logger.info({ version: hello.version, methods: hello.methods.size }, "connected to the OpenClaw gateway");
        for (const listener of connectedListeners) listener(hello);
        const openedAt = performance.now();
        const reason = await opened.ended;
        socket = null;
        shortLived = performance.now() - openedAt < STABLE_MS ? shortLived + 1 : 0;
        setFailure(reason);
        if (!closing.signal.aborted) logger.warn({ reason: reason.message }, "the connection to the OpenClaw gateway broke");
      } catch (error) {
        const { code, message } = setFailure(error);
        if (failures === 0 && !closing.signal.aborted) logger.warn({ code, reason: message }, "no connection to the OpenClaw gateway");
        failures += 1;
      }
      await delay(delayMs(Math.max(failures, shortLived - 1), failure), undefined, { signal: closing.signal }).catch(() => {});
    }
  };
  const supervised = supervise();

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
          message: failure?.message ?? "There is no connection to the gateway yet.",
          retryable: true,
        });
      return await socket.call(method, params, options);
    },
    async connected(signal) {
      if (socket !== null) return socket.hello;
      const next = Promise.withResolvers<Hello>();
      const stop = AbortSignal.any([closing.signal, ...(signal === undefined ? [] : [signal])]);
      const onAbort = (): void => next.reject(new GatewayError({ code: "ABORTED", message: "Nobody waits for the gateway any longer." }));
      if (stop.aborted) onAbort();
      stop.addEventListener("abort", onAbort, { once: true });
      connectedListeners.add(next.resolve);
      return await next.promise.finally(() => {
        connectedListeners.delete(next.resolve);
        stop.removeEventListener("abort", onAbort);
      });
    },
    tried: async () => (socket === null ? attempt.promise : undefined),
    onEvent: (listener) => listen(eventListeners, listener),
    onConnected: (listener) => listen(connectedListeners, listener),
    async close() {
      closing.abort();
      await supervised;
    },
  };
}

function listen<T>(listeners: Set<T>, listener: T): () => void {
  listeners.add(listener);
  return () => void listeners.delete(listener);
}

/** Longer after each failure, never all at the same moment; what only an operator can mend is tried least often. */
function delayMs(failures: number, failure: GatewayError | null): number {
  const isWellKnown = failure === null || TRANSIENT_CODES.includes(failure.code);
  const maxMs = isWellKnown ? Math.min(LONGEST_DELAY_MS, FIRST_DELAY_MS * 2 ** Math.min(failures, 10)) : LONGEST_DELAY_MS;
  const asked = Math.min(failure?.retryAfterMs ?? 0, LONGEST_DELAY_MS);
  return Math.max(asked, maxMs * (0.5 + Math.random() / 2));
}

const asGatewayError = (error: unknown): GatewayError =>
  error instanceof GatewayError ? error : new GatewayError({ code: "INVALID_ADDRESS", message: String(error) });
