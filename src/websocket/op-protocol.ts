/** A request: one op with its payload. */
export interface OpRequest {
  /** `<namespace>.<verb>`. */
  readonly op: string;
  /** Each op defines its own payload. */
  readonly payload: Readonly<Record<string, unknown>>;
  readonly meta: OpMeta;
}

/** The name and the scopes of a principal. */
interface MetaPrincipal {
  readonly name: string;
  readonly scopes: ReadonlySet<string>;
}

/** The context of a request. */
export interface OpMeta {
  /** The client's id, or a new one if it sent none. */
  readonly requestId: string;
  /** The tenant whose data the request can access. */
  readonly tenant: string;
  /** The principal of the token, or of a ticket or session that `derivedFrom` the token and can have fewer scopes. */
  readonly principal: MetaPrincipal & { readonly derivedFrom?: MetaPrincipal };
  /** Time of arrival, in ms since the epoch. */
  readonly timestamp: number;
  /** The `meta` of the envelope, with all values as text. */
  readonly attributes: Readonly<Record<string, string>>;
  /** The connection of the request; absent if the transport cannot push messages. */
  readonly channel?: OpChannel;
  /** Reserves memory before a response of this many bytes is built; absent if there is no limit. Throws BridgeError `overloaded`. */
  reserve?(bytes: number): Promise<void>;
}

/** A connection over which Bridge can push messages, such as events. */
export interface OpChannel {
  /**
   * Sends the messages that `read` returns, as JSON texts. Calls it when the client has read enough of the earlier messages
   * and `bytes` are available for what it reads, one caller after the other, so that a client that does not read occupies
   * no memory for messages that wait. Resolves when the messages are sent, rejects if `read` rejects, and does nothing after
   * the connection has closed.
   */
  push(bytes: number, read: () => Promise<readonly string[]>): Promise<void>;
  /** Aborted when the connection closes. */
  readonly signal: AbortSignal;
}

/** The response to a request. `status` has the meaning of an HTTP status code. */
export interface OpResponse {
  readonly status: number;
  readonly payload: Readonly<Record<string, unknown>>;
}

/** Processes requests of any transport. */
export interface OpHandler {
  /** If it throws, the response is 500 without details of the error. */
  handle(request: OpRequest): Promise<OpResponse>;
}

/** The lifecycle of a transport. It can be restarted after a stop. */
export interface SocketServer {
  /** Path to which clients connect. */
  readonly endpoint: string;
  /** Whether new connections are accepted. */
  readonly running: boolean;
  start(): Promise<void>;
  /** Rejects new connections immediately. Resolves when pending requests have responses and all connections are closed. */
  stop(): Promise<void>;
}

/** The envelope of a request. New ops can be added; the envelope never changes and has no version. */
export interface BridgeRequestEnvelope {
  requestId?: string;
  op: string;
  payload?: Record<string, unknown>;
  meta?: Record<string, unknown>;
}

/** The envelope of a response. Responses can arrive in a different order than their requests. */
export interface BridgeResponseEnvelope {
  requestId: string;
  status: number;
  payload: Record<string, unknown>;
}

/** An event of a run that the client follows. Unlike a response, it has no `requestId`. */
export interface BridgePushEnvelope {
  op: "agent.event";
  payload: {
    runId: string;
    /** The event, in the format of the event stream; null, with `error`, if the run was deleted. */
    event: Record<string, unknown> | null;
    error?: "run-not-found";
  };
}

/** Close codes of sockets. Bridge never closes a socket because of a request. */
export const closeCodes = {
  /** Bridge stops and has responded to the pending requests. */
  goingAway: 1001,
  /** The clients of the tenant occupy too much memory, and this connection has their oldest incomplete message. */
  tooMuchMemory: 1013,
  /** The token was revoked or has expired. */
  tokenInvalid: 4401,
  /** The client connected while Bridge was stopping or stopped. */
  stopped: 4503,
} as const;
