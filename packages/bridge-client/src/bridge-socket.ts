import { pause } from "./backoff.ts";
import type { CallOptions, DecisionOptions } from "./bridge-client.ts";
import { BridgeClientError } from "./bridge-client-error.ts";
import { type ClientSettings, resolveSettings, type TokenSource } from "./client-settings.ts";
import { connect } from "./connection.ts";
import type { BridgeEvent } from "./events.ts";
import { followRun } from "./follow-run.ts";
import { createRandomId } from "./random-id.ts";
import { readJson } from "./read-json.ts";
import type { SenderOptions } from "./request-sender.ts";
import { retry } from "./retry.ts";
import type { RunRequest, RunResult, RunStatus, WaitingCall } from "./runs.ts";
import { openSocketConnection, type SocketConnection } from "./socket-connection.ts";
import type { Ticket, Workspace } from "./wire.ts";

/** Address, credentials and limits of the client. */
export type BridgeSocketOptions = ClientSettings & {
  /** Maximum events of one run that wait for the reader of `follow`. Default: 1,000. */
  maxWaitingEvents?: number | undefined;
} & (
    | (TokenSource & { getTicket?: undefined })
    /** For a page that may not hold a token. Returns a new ticket, which the page's backend creates; called for each connection. */
    | { getTicket: () => string | Promise<string>; token?: undefined; getToken?: undefined }
  );

/** Client of Bridge's WebSocket. Calls reject with a `BridgeClientError`. They share one connection, which is replaced when it is lost. */
export interface BridgeSocket {
  /** Starts a run. Retried safely, because Bridge runs a task id only once. */
  run(request: RunRequest, options?: CallOptions): Promise<{ runId: string }>;
  /**
   * Follows the events of a run across disconnects and restarts of Bridge, without losing or repeating any. Starts after the event with
   * the id `after`, or with the first event, and ends after the terminal event. A client follows a run only once at a time.
   */
  follow(runId: string, options?: CallOptions & { after?: string | undefined }): AsyncGenerator<BridgeEvent, void>;
  /** Waits for the end of a run. A failed run does not reject the call; check `phase` and `result`. */
  result(runId: string, options?: CallOptions): Promise<RunResult>;
  status(runId: string, options?: CallOptions): Promise<RunStatus>;
  /**
   * Approves a tool call or a budget, whose maximum grows by `raiseByUsd`. Not retried: after `unreachable` it is unknown whether Bridge
   * has recorded the decision.
   */
  approve(call: WaitingCall, reason?: string, options?: DecisionOptions): Promise<void>;
  /** Rejects a tool call. The runtime receives the reason. Not retried, like `approve`. */
  reject(call: WaitingCall, reason?: string, options?: CallOptions): Promise<void>;
  /** Cancels a run. Resolves to false if it had already ended. After a retry, false can also mean that the first attempt canceled it. */
  cancel(runId: string, options?: CallOptions): Promise<boolean>;
  /** Returns at most 1,000 workspaces of the tenant, newest first. */
  listWorkspaces(options?: CallOptions): Promise<Workspace[]>;
  /** Closes the connection and ends all calls with the error `closed`. Runs continue. */
  close(): void;
}

const MAX_WAITING_EVENTS = 1000;
/** Bridge waits at most this long for the end of a run. */
const WAIT_SECONDS = 60;
/** Bridge waits for at most this many results on one socket, and answers further requests at once. */
const MAX_WAITING_RESULTS = 8;
/** Pause before such a request is repeated. */
const RESULT_PAUSE_MS = 1000;

/** Connects to Bridge over the WebSocket. Rejects if the token is wrong, or if Bridge cannot be reached for `patienceMs`. */
export async function connectBridge(options: BridgeSocketOptions, { signal }: CallOptions = {}): Promise<BridgeSocket> {
  const { token, getToken = () => token ?? "", getTicket, maxWaitingEvents = MAX_WAITING_EVENTS } = options;
  const settings = resolveSettings(options, getToken);
  const closing = new AbortController();
  const shared = createSharedConnection(settings, getTicket ?? ((openSignal) => createTicket(settings, openSignal)), closing.signal);
  const abortOnClose = (callSignal: AbortSignal | undefined): AbortSignal =>
    callSignal === undefined ? closing.signal : AbortSignal.any([callSignal, closing.signal]);
  const openConnection = (callSignal: AbortSignal): Promise<SocketConnection> =>
    retry(() => shared.connect(callSignal), { ...settings, isRepeatable: true, signal: callSignal });

  async function send<T>(op: string, payload: object, call: CallOptions & { isRepeatable?: boolean; waitMs?: number }): Promise<T> {
    const { isRepeatable = true, waitMs = 0 } = call;
    const callSignal = abortOnClose(call.signal);
    callSignal.throwIfAborted();
    const act = async (): Promise<T> => {
      // Nothing was sent before the connection is open, so opening it is retried even for a request that must not be repeated.
      const connection = isRepeatable ? await shared.connect(callSignal) : await openConnection(callSignal);
      return connection.ask<T>(op, payload, { signal: callSignal, waitMs });
    };
    return retry(act, { ...settings, isRepeatable, signal: callSignal });
  }

  async function decide(
    decision: "approve" | "reject",
    { toolCallId, approvalId }: WaitingCall,
    reason?: string,
    options: DecisionOptions = {},
  ) {
    const { raiseByUsd, ...call } = options;
    await send("tool.approve", { toolCallId, approvalId, decision, reason, raiseByUsd }, { ...call, isRepeatable: false });
  }

  let waitingResults = 0;
  async function readResult(runId: string, call: CallOptions): Promise<RunResult | null> {
    const waitSeconds = waitingResults < MAX_WAITING_RESULTS ? WAIT_SECONDS : 0;
    waitingResults += 1;
    try {
      const request = { ...call, waitMs: waitSeconds * 1000 };
      const answer = await send<RunResult | { result: null }>("agent.result", { runId, waitSeconds }, request);
      if (answer.result !== null) return answer;
    } finally {
      waitingResults -= 1;
    }
    if (waitSeconds === 0) await pause(RESULT_PAUSE_MS, abortOnClose(call.signal));
    return null;
  }

  try {
    await openConnection(abortOnClose(signal));
  } catch (error) {
    // The caller receives no client to close, so a connection that still opens would stay open.
    closing.abort(error);
    throw error;
  }
  return {
    run: ({ taskId = createRandomId(), ...request }, call = {}) =>
      send<{ runId: string }>("agent.run", { ...request, taskId }, call).then(({ runId }) => ({ runId })),
    follow: (runId, { after, signal: callSignal } = {}) =>
      followRun(runId, { ...settings, after, maxWaitingEvents, signal: abortOnClose(callSignal), connect: shared.connect }),
    async result(runId, call = {}) {
      for (;;) {
        const result = await readResult(runId, call);
        if (result !== null) return result;
      }
    },
    status: (runId, call = {}) => send("agent.status", { runId }, call),
    approve: (waiting, reason, call) => decide("approve", waiting, reason, call),
    reject: (waiting, reason, call) => decide("reject", waiting, reason, call),
    cancel: async (runId, call = {}) => (await send<{ cancelled: boolean }>("agent.cancel", { runId }, call)).cancelled,
    listWorkspaces: async (call = {}) => (await send<{ workspaces: Workspace[] }>("workspace.list", {}, call)).workspaces,
    close: () => closing.abort(new BridgeClientError("closed", "The client was closed.")),
  };
}

/** Creates a holder of one connection for all calls. It opens the connection on demand, and again after a loss. */
function createSharedConnection(
  { baseUrl, silenceMs, parseJson }: SenderOptions,
  getTicket: (signal: AbortSignal) => string | Promise<string>,
  signal: AbortSignal,
) {
  let current: Promise<SocketConnection> | null = null;

  async function open(onClose: () => void): Promise<SocketConnection> {
    const ticket = await getTicket(signal);
    const url = `${baseUrl.replace(/^http/, "ws")}ws/bridge?${new URLSearchParams({ ticket })}`;
    return openSocketConnection(url, { silenceMs, parseJson, onClose, signal });
  }

  return {
    /** Returns the open connection, or opens one. The signal ends the wait of this caller only. */
    async connect(callSignal: AbortSignal): Promise<SocketConnection> {
      callSignal.throwIfAborted();
      if (current === null) {
        const opening: Promise<SocketConnection> = open(forget);
        current = opening;
        opening.catch(forget);
        function forget(): void {
          if (current === opening) current = null;
        }
      }
      return abortable(current, callSignal);
    },
  };
}

/**
 * Creates a ticket, for all platforms. A browser cannot send a token when it opens a WebSocket, and reports no reason if Bridge rejects the
 * connection. This request reports a wrong token.
 */
async function createTicket(settings: SenderOptions, signal: AbortSignal): Promise<string> {
  const connection = await connect(settings, { path: "/api/v2/events/ticket", method: "POST", body: {}, signal });
  return ((await readJson(connection, settings.parseJson)) as Ticket).ticket;
}

function abortable<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const onAbort = (): void => reject(signal.reason);
    // The function that creates the ticket can abort the signal.
    if (signal.aborted) onAbort();
    else signal.addEventListener("abort", onAbort, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener("abort", onAbort));
  });
}
