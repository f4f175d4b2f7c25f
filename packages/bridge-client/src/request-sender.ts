import type { BackoffOptions } from "./backoff.ts";
import { type BridgeRequest, type ConnectionOptions, connect } from "./connection.ts";
import { readBytes } from "./read-bytes.ts";
import { readJson } from "./read-json.ts";
import { retry } from "./retry.ts";

/** Options of all requests of a client. */
export type SenderOptions = ConnectionOptions & BackoffOptions;

/** A page of a list. */
interface Page<T> {
  data: T[];
  meta: { nextCursor: string | null; truncated?: boolean; settingsFault?: string | null };
}

type Cancellation = Pick<BridgeRequest, "signal">;

/** Encodes the parameters of a query that are defined. */
export const toQuery = (parameters: object): URLSearchParams =>
  new URLSearchParams(Object.entries(parameters).filter(([, value]) => value !== undefined));

/** Sends requests and retries them. A request that is not repeatable is retried only if Bridge has not processed it. */
export function createRequestSender(options: SenderOptions) {
  function send<T>(
    path: string,
    { isRepeatable = true, ...details }: Omit<BridgeRequest, "path"> & { isRepeatable?: boolean },
    read: (value: unknown, headers: Headers) => T = (value) => value as T,
  ): Promise<T> {
    const act = async (): Promise<T> => {
      const connection = await connect(options, { path, ...details });
      return read(await readJson(connection, options.parseJson), connection.response.headers);
    };
    return retry(act, { ...options, isRepeatable, signal: details.signal });
  }

  async function* fetchPages<T>(path: string, filter: object, { signal }: Cancellation): AsyncGenerator<Page<T>, void> {
    const query = toQuery(filter);
    for (;;) {
      const page = await send<Page<T>>(`${path}?${query}`, { signal });
      yield page;
      if (page.meta.nextCursor === null) return;
      query.set("cursor", page.meta.nextCursor);
    }
  }

  return {
    /** Sends a request and reads the JSON of its response. */
    send,
    /** Sends a request whose response has no body. */
    sendForStatus(request: BridgeRequest, isRepeatable: boolean): Promise<Response> {
      const act = async (): Promise<Response> => {
        const { response, close } = await connect(options, request);
        close();
        return response;
      };
      return retry(act, { ...options, isRepeatable, signal: request.signal });
    },
    /** Sends a request and returns the response, whose body is not read yet. */
    async sendForBytes(request: BridgeRequest): Promise<Response> {
      return readBytes(await retry(() => connect(options, request), { ...options, isRepeatable: true, signal: request.signal }));
    },
    /** Requests the pages of a list, one after the other. */
    fetchPages,
    /** Yields the entries of all pages of a list. */
    async *list<T>(path: string, filter: object, cancellation: Cancellation): AsyncGenerator<T, void> {
      for await (const { data } of fetchPages<T>(path, filter, cancellation)) yield* data;
    },
  };
}
