import type { IncomingHttpHeaders } from "node:http";
import { Readable } from "node:stream";
import type { Dispatcher } from "undici";
import type { ExcerptReader } from "./response-excerpt.ts";

/** A POST in progress, of whose response only the head matters. */
export interface HttpPost {
  /** Resolves when the head of the response has arrived. Rejects if the POST fails or is aborted before. */
  response: Promise<{ status: number; headers: IncomingHttpHeaders }>;
  /** Resolves when the rest of the response has been read, within the limit, or aborted. */
  ended: Promise<void>;
}

/** The content of a POST, and what limits it. */
export interface HttpPostOptions {
  url: URL;
  headers: Record<string, string>;
  body: Buffer | Readable;
  signal: AbortSignal;
  /** Aborts a response with more bytes. A shorter one is read, so that its connection can be reused. */
  responseLimitBytes: number;
  /** Gets the beginning of the response body. */
  excerpt?: Pick<ExcerptReader, "add" | "end"> | undefined;
}

/** Starts a POST. It uses undici's handlers instead of its `request`, which creates a stream for each response. */
export function startHttpPost(
  dispatcher: Dispatcher,
  { url, headers, body, signal, responseLimitBytes, excerpt }: HttpPostOptions,
): HttpPost {
  const { promise: response, resolve: onHead, reject: onFault } = Promise.withResolvers<Awaited<HttpPost["response"]>>();
  const { promise: ended, resolve: onEnd } = Promise.withResolvers<void>();
  let controller: Dispatcher.DispatchController | undefined;
  let bytesRead = 0;

  function end(isComplete: boolean): void {
    signal.removeEventListener("abort", abort);
    excerpt?.end(isComplete);
    onEnd();
  }
  function fail(error: Error): void {
    onFault(error);
    end(false);
    if (body instanceof Readable) body.on("error", () => {}).destroy();
  }
  // undici passes a controller when it has a connection. Until then, it keeps the request, and `onRequestStart` aborts it.
  function abort(): void {
    controller?.abort(signal.reason);
    fail(signal.reason);
  }

  if (signal.aborted) {
    fail(signal.reason);
    return { response, ended };
  }
  signal.addEventListener("abort", abort);
  const options = { origin: url.origin, path: `${url.pathname}${url.search}`, method: "POST", headers, body };
  dispatcher.dispatch(options, {
    onRequestStart(started) {
      controller = started;
      if (signal.aborted) started.abort(signal.reason);
    },
    onResponseStart(_, status, responseHeaders) {
      if (status >= 200) onHead({ status, headers: responseHeaders });
    },
    onResponseData(started, chunk) {
      bytesRead += chunk.length;
      excerpt?.add(chunk);
      if (bytesRead > responseLimitBytes) started.abort(new Error("The response is too long."));
    },
    onResponseEnd: () => end(true),
    onResponseError: (_, error) => fail(error),
  });
  return { response, ended };
}
