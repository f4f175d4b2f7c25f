import type { IncomingMessage, ServerResponse } from "node:http";
import { nullIfAborted } from "@hak2i/async-kit";
import type { Dispatcher } from "undici";
import type { SpendingAnswer, UsageReport } from "#contract";
import { replaceKeyInHeaders, replaceKeyInQuery } from "./credential.ts";
import { type ForwardEnd, forward } from "./forward.ts";
import { type CallLimit, readLimit } from "./limits.ts";
import type { Protocol, RequestKind } from "./protocol.ts";
import { protocols } from "./protocols/protocols.ts";
import type { ProxyRoute } from "./proxy-plan.ts";
import { createTap, type Tap } from "./tap.ts";
import { basePathOf, isBelow } from "./upstream-path.ts";

/** Maximum number of calls of one task at the same time. Each holds a connection to the vendor. */
const MAX_OPEN_CALLS = 128;

/** The task for which calls are forwarded. Its functions must not throw. */
export interface ProxyTask {
  /** Called once for each answered call, before the program gets the end of the response. */
  onCall(report: UsageReport): void;
  /** Whether the task may make another call. May take long, for example until an operator has decided. */
  mayCall(): Promise<SpendingAnswer>;
}

/** One route of a task. `calls`, `taps` and `state` belong to all routes of the task. */
export interface TaskRoute {
  task: ProxyTask;
  route: ProxyRoute;
  /** The calls that have not ended. */
  calls: Set<Promise<void>>;
  /** The readers of the responses that have not ended. */
  taps: Set<Tap>;
  state: { answered: number; limit: CallLimit | null };
  /** Aborted at the end of the task. */
  signal: AbortSignal;
}

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
  const { route, calls, signal, task } = taskRoute;
  const protocol = protocols[route.protocol];
  const [path = ""] = (incoming.url ?? "").split("?", 1);
  const sendError = (status: number, message: string): void => sendJson(response, status, protocol.errorBody(status, message));

  if (!isBelow(path, basePathOf(route.baseUrl))) return sendError(404, "Bridge forwards only requests to the address of the model.");
  const kind = protocol.classify(incoming.method ?? "GET", path);
  if (kind === "deferred") return sendError(403, "Bridge does not forward batches, because no response reports their usage.");
  if (calls.size >= MAX_OPEN_CALLS) return sendError(429, `The task has ${MAX_OPEN_CALLS} open model calls. Wait until one has ended.`);
  if (kind !== "free") {
    const answer = await askToCall(taskRoute);
    if (signal.aborted || response.destroyed) return void response.destroy();
    if (!answer.allowed) return sendError(protocol.refusalStatus, answer.reason);
  }
  const end = await forwardCall(call, { kind, protocol, task });
  if (end === "whole") return;
  if (response.headersSent || response.destroyed || signal.aborted) return breakOff(response, end);
  sendError(502, `Bridge got no response from the model's address: ${end.message}`);
}

/** Asks whether the task may make another call, when the usage of all responses so far is known. */
async function askToCall({ task, taps, signal }: TaskRoute): Promise<SpendingAnswer> {
  await Promise.all([...taps].map((tap) => tap.flush()));
  return (await nullIfAborted(task.mayCall(), signal)) ?? { allowed: false, reason: "The task has ended." };
}

/** What `forwardCall` must know about a request. */
interface CallKind {
  kind: RequestKind;
  protocol: Protocol;
  task: ProxyTask;
}

async function forwardCall(call: Call, { kind, protocol, task }: CallKind): Promise<ForwardEnd> {
  const { incoming, response, key, route: taskRoute, dispatcher } = call;
  const { route, signal, state, taps } = taskRoute;
  const startedAt = Date.now();
  const start = performance.now();
  let status: number | null = null;
  let tap: Tap | null = null;
  let isReported = false;

  const report = (usage: Awaited<ReturnType<Tap["end"]>>): void => {
    const { model, usage: counted } = usage;
    // Of all responses without counts, only those of generations cost something for sure.
    if (isReported || (counted === undefined && kind !== "generation")) return;
    isReported = true;
    const incomplete = usage.incomplete || counted === undefined;
    task.onCall({
      ...(model !== undefined && { model }),
      usage: counted ?? { inputTokens: 0, outputTokens: 0 },
      call: { startedAt, durationMs: performance.now() - start, status, ...(incomplete && { incomplete }) },
      ...(counted === undefined && { partial: true }),
    });
  };
  const endTap = async (isWhole: boolean): Promise<void> => {
    if (tap === null) return;
    const ended = tap;
    tap = null;
    report(await ended.end(isWhole));
    taps.delete(ended);
  };

  const end = await forward(
    incoming,
    response,
    {
      origin: new URL(route.baseUrl).origin,
      path: replaceKeyInQuery(incoming.url ?? "", key, route.secret),
      headers: replaceKeyInHeaders(incoming.rawHeaders, key, route),
    },
    {
      dispatcher,
      signal,
      observer: {
        onStart(responseStatus, headers) {
          status = responseStatus;
          const limit = readLimit(status, headers, Date.now());
          if (limit !== null) state.limit = limit;
          if (kind === "free" || status < 200 || status > 299) return;
          if (kind === "generation") Object.assign(state, { answered: state.answered + 1, limit: null });
          tap = createTap(
            protocol,
            { contentType: textOf(headers["content-type"]), contentEncoding: textOf(headers["content-encoding"]) },
            report,
          );
          taps.add(tap);
        },
        onData: (chunk) => tap?.add(chunk),
        onEnd: () => endTap(true),
      },
    },
  );
  await endTap(false);
  return end;
}

/** Ends a response that the vendor did not complete in the way of the vendor. Some programs repeat a call only after a reset. */
function breakOff(response: ServerResponse, error: NodeJS.ErrnoException): void {
  if (error.code === "ECONNRESET") response.socket?.resetAndDestroy();
  response.destroy();
}

const textOf = (value: string | string[] | undefined): string => (Array.isArray(value) ? value.join(",") : (value ?? ""));

function sendJson(response: ServerResponse, status: number, body: unknown): void {
  const text = JSON.stringify(body);
  response.writeHead(status, { "content-type": "application/json", "content-length": Buffer.byteLength(text) }).end(text);
}
