/** What a client sends: one op with its payload. */
export interface BridgeRequest {
  /** `<namespace>.<verb>`. */
  readonly op: string;
  /** Every op says what belongs in it; the envelope does not. */
  readonly payload: Readonly<Record<string, unknown>>;
  readonly meta: BridgeMeta;
}

/** What is known of a request besides what it asks for. */
export interface BridgeMeta {
  /** The client's, or made where it sent none. */
  readonly requestId: string;
  /** Whose data it may see. */
  readonly tenant: string;
  /** Who asks. */
  readonly principal: { readonly name: string; readonly scopes: ReadonlySet<string> };
  /** When it arrived, in ms since the epoch. */
  readonly timestamp: number;
  /** The `meta` of the envelope, every value as text. */
  readonly attributes: Readonly<Record<string, string>>;
  /** The connection that the request came by; absent where a transport cannot push. */
  readonly channel?: BridgeChannel;
}

/** A connection, for messages that no request has asked for one by one. */
export interface BridgeChannel {
  /** Sends one message, as JSON text; resolves when the client can take another one, or when the connection has closed. Never rejects. */
  push(json: string): Promise<void>;
  /** Aborted when the connection closes. */
  readonly signal: AbortSignal;
}

/** What the client gets: a status as in HTTP, and a payload. */
export interface BridgeResponse {
  readonly status: number;
  readonly payload: Readonly<Record<string, unknown>>;
}

/** Answers requests, whatever transport they came by. */
export interface BridgeRequestHandler {
  /** What it throws is answered 500, and never shown. */
  handle(request: BridgeRequest): Promise<BridgeResponse>;
}

/** The life of a transport. It can be started again after it was stopped. */
export interface BridgeServer {
  /** Where clients find it. */
  readonly endpoint: string;
  /** False: whoever connects now is turned away. */
  readonly running: boolean;
  start(): Promise<void>;
  /** Turns new connections away at once; resolves when what is in flight is answered and every connection is closed. */
  stop(): Promise<void>;
}

/** An envelope as it goes from the client to Bridge. Open catalogue of ops, frozen envelope, no version. */
export interface BridgeRequestEnvelope {
  requestId?: string;
  op: string;
  payload?: Record<string, unknown>;
  meta?: Record<string, unknown>;
}

/** An envelope as it comes back. Answers may come in another order than their requests. */
export interface BridgeResponseEnvelope {
  requestId: string;
  status: number;
  payload: Record<string, unknown>;
}

/** An event of a run that the client follows. It has no `requestId`, which tells it from an answer. */
export interface BridgePushEnvelope {
  op: "agent.event";
  payload: {
    runId: string;
    /** The event as the event stream has it; null, with `error`, when the run was deleted. */
    event: Record<string, unknown> | null;
    error?: "run-not-found";
  };
}

/** Why Bridge closes a socket; no request is ever a reason. */
export const closeCodes = {
  /** Bridge stops, and has answered what was in flight. */
  goingAway: 1001,
  /** The clients of the tenant occupy too much memory, and this connection has their oldest incomplete message. */
  tooMuchHeld: 1013,
  /** The token was taken back or has expired. */
  tokenOver: 4401,
  /** Whoever connects while Bridge stops or is stopped. */
  stopped: 4503,
} as const;
