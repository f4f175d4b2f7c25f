import type { IncomingMessage, ServerResponse } from "node:http";
import type { Readable } from "node:stream";
import type { Dispatcher } from "undici";
import { selectForwarded, toPairs, toRawHeaders } from "./headers.ts";

/** The request for the vendor. */
export interface UpstreamRequest {
  origin: string;
  /** With the query. */
  path: string;
  /** Names and values in turn. */
  headers: string[];
  /** What the program sends, unless its headers announce no body. */
  body: Readable;
}

/** Observes a response. Must not throw. */
export interface ResponseObserver {
  onStart(status: number, headers: Readonly<Record<string, string | string[] | undefined>>): void;
  onData(chunk: Buffer): void;
  /** The whole response has arrived; the program gets its end when the promise resolves. */
  onEnd(): Promise<void>;
}

interface ForwardOptions {
  dispatcher: Dispatcher;
  signal: AbortSignal;
  observer: ResponseObserver;
  /** Called with each part of the request. Must not throw. */
  onBody(chunk: Buffer): void;
}

/** How a call ended: `whole` if the program got the whole response, otherwise the reason. */
export type ForwardEnd = "whole" | Error;

/**
 * Sends a request to the vendor, and streams the response to the program, at the speed of the slower one. Nothing but headers of the
 * connection is changed, and redirects are not followed. Resolves when both sides have ended. If the vendor sends no response, the caller
 * must send one.
 */
export function forward(
  incoming: IncomingMessage,
  response: ServerResponse,
  request: UpstreamRequest,
  { dispatcher, signal, observer, onBody }: ForwardOptions,
): Promise<ForwardEnd> {
  const { promise, resolve } = Promise.withResolvers<ForwardEnd>();
  let controller: Dispatcher.DispatchController | null = null;
  let cancelReason: Error | null = null;

  // Resolves at once, because a connection that is being opened cannot be aborted.
  const cancel = (reason: Error): void => {
    cancelReason ??= reason;
    controller?.abort(cancelReason);
    settle(cancelReason);
  };
  const onClose = (): void => {
    if (!response.writableFinished) cancel(new Error("The program closed the connection."));
  };
  const onAbort = (): void => cancel(new Error("The task has ended."));
  const resume = (): void => controller?.resume();
  const settle = (end: ForwardEnd): void => {
    response.off("close", onClose);
    response.off("drain", resume);
    signal.removeEventListener("abort", onAbort);
    resolve(end);
  };

  response.once("close", onClose);
  response.on("drain", resume);
  signal.addEventListener("abort", onAbort, { once: true });
  if (signal.aborted) {
    onAbort();
    return promise;
  }
  const handler: Dispatcher.DispatchHandler = {
    onRequestStart(started) {
      controller = started;
      if (cancelReason !== null) started.abort(cancelReason);
    },
    onResponseStart(started, status, headers, statusMessage) {
      // Interim responses have no meaning for a program that did not ask for them.
      if (status < 200) return;
      try {
        writeHead(incoming, response, { status, statusMessage, rawHeaders: toRawHeaders(started.rawHeaders) });
        observer.onStart(status, headers);
      } catch (error) {
        cancel(error as Error);
      }
    },
    onResponseData(started, chunk) {
      observer.onData(chunk);
      if (!response.write(chunk)) started.pause();
    },
    onResponseEnd(ended) {
      const trailers = toRawHeaders(ended.rawTrailers);
      void observer.onEnd().then(() => {
        if (trailers.length > 0 && response.chunkedEncoding) response.addTrailers(toPairs(trailers));
        response.end();
        settle("whole");
      });
    },
    onResponseError(_, error) {
      settle(cancelReason ?? error);
    },
  };
  try {
    const { method = "GET", headers } = incoming;
    const hasBody = headers["content-length"] !== undefined || headers["transfer-encoding"] !== undefined;
    // An early response of the vendor must not destroy the request, because its connection carries the response.
    const body = hasBody ? observe(request.body.iterator({ destroyOnReturn: false }), onBody) : null;
    const options = { ...request, method: method as Dispatcher.HttpMethod, body: body as unknown as Dispatcher.DispatchOptions["body"] };
    dispatcher.dispatch(options as Dispatcher.DispatchOptions, handler);
  } catch (error) {
    settle(error as Error);
  }
  return promise;
}

async function* observe(chunks: AsyncIterable<Buffer>, onChunk: (chunk: Buffer) => void): AsyncIterable<Buffer> {
  for await (const chunk of chunks) {
    onChunk(chunk);
    yield chunk;
  }
}

interface Head {
  status: number;
  statusMessage: string | undefined;
  rawHeaders: readonly string[];
}

/** Sends the status and the headers at once, because the first event of a stream can take long. */
function writeHead(incoming: IncomingMessage, response: ServerResponse, { status, statusMessage, rawHeaders }: Head): void {
  response.sendDate = false;
  const pairs = selectForwarded(rawHeaders);
  const isChunked = incoming.httpVersion === "1.1" && !pairs.some(([name]) => name.toLowerCase() === "content-length");
  // Node rejects this header without a chunked response.
  const kept = isChunked ? pairs : pairs.filter(([name]) => name.toLowerCase() !== "trailer");
  response.writeHead(status, statusMessage, kept.flat());
  response.flushHeaders();
}
