import type { ModelFetch } from "../shared/model-api/model-endpoint.ts";
import type { TokenSource } from "./token-source.ts";

/**
 * Adds an access token to requests. After a status 401, requests a new token and sends the request once more, which is safe because Gloo
 * did not process it.
 */
export function createAuthorizedFetch(tokens: TokenSource, fetch: ModelFetch): ModelFetch {
  const send: (token: string, ...call: Parameters<ModelFetch>) => Promise<Response> = (token, input, init = {}) => {
    const headers = { ...Object.fromEntries(new Headers(init.headers)), authorization: `Bearer ${token}` };
    return fetch(input, { ...init, headers });
  };
  return async (input, init) => {
    const signal = init?.signal ?? undefined;
    const token = await tokens.getToken(signal);
    const first = await send(token, input, init);
    if (first.status !== 401) return first;
    await first.body?.cancel();
    return await send(await tokens.getToken(signal, token), input, init);
  };
}
