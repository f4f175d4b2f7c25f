import { nullIfAborted } from "@hak2i/async-kit";
import pRetry from "p-retry";
import { z } from "zod";
import type { ModelFetch } from "../shared/model-api/model-endpoint.ts";
import { ModelFailure } from "../shared/model-api/model-failure.ts";

/** The OAuth scope that the model endpoint requires. */
const SCOPE = "api/access";
const REFRESH_EARLY_MS = 60_000;
/** Time limit for a token request, including retries. */
const REQUEST_LIMIT_MS = 15_000;
/** The retries cover the restart of a token endpoint, which takes about a second. */
const RETRIES = { retries: 2, minTimeout: 200 };

/** The token becomes part of a header, so only printable ASCII is accepted. */
const tokenSchema = z.object({ access_token: z.string().regex(/^[\x21-\x7e]+$/), expires_in: z.coerce.number().positive().default(3600) });

/** The token endpoint and the client's credentials. */
export interface TokenClient {
  tokenUrl: string;
  clientId: string;
  clientSecret: string;
  fetch: ModelFetch;
  /** Aborted when the adapter shuts down; cancels a running token request. */
  shutdownSignal: AbortSignal;
  /** The clock, in ms since the epoch. Default: `Date.now`. */
  now?: () => number;
}

/** Holds one access token for all tasks. */
export interface TokenSource {
  /**
   * Returns a valid token. `rejected` is a token that the endpoint has rejected. Concurrent calls share one token request; `signal` cancels
   * the wait of one caller, but not the request.
   */
  getToken(signal: AbortSignal | undefined, rejected?: string): Promise<string>;
  /** The current token, which must be redacted in texts; empty if there is none. */
  readonly currentToken: string;
}

/** Creates a source of tokens by OAuth client credentials. It requests a new token before the old one expires. Failures are not cached. */
export function createTokenSource({ now = Date.now, ...client }: TokenClient): TokenSource {
  let current = { token: "", validUntil: 0 };
  let pending: Promise<string> | null = null;

  const refresh = async (): Promise<string> => {
    const requestedAt = now();
    const limit = AbortSignal.timeout(REQUEST_LIMIT_MS);
    const { access_token: token, expires_in: seconds } = await pRetry(() => requestToken(client, limit), {
      ...RETRIES,
      shouldRetry: ({ error }) => !limit.aborted && !client.shutdownSignal.aborted && isTemporary(error),
    });
    const lifetimeMs = seconds * 1000;
    // The margin is at most half of the lifetime. With a longer margin, a short-lived token would be requested again for every call.
    current = { token, validUntil: requestedAt + lifetimeMs - Math.min(REFRESH_EARLY_MS, lifetimeMs / 2) };
    return token;
  };

  return {
    get currentToken() {
      return current.token;
    },
    async getToken(signal, rejected) {
      signal?.throwIfAborted();
      if (current.token !== rejected && now() < current.validUntil) return current.token;
      pending ??= refresh().finally(() => {
        pending = null;
      });
      if (signal === undefined) return await pending;
      // Other callers wait for the same request, so it continues when one caller aborts.
      const token = await nullIfAborted(pending, signal);
      if (token === null) throw signal.reason;
      return token;
    },
  };
}

const isTemporary = (error: unknown): boolean => error instanceof ModelFailure && error.errorCode !== "authentication_required";

async function requestToken(
  { tokenUrl, clientId, clientSecret, fetch, shutdownSignal }: Omit<TokenClient, "now">,
  limit: AbortSignal,
): Promise<z.infer<typeof tokenSchema>> {
  let answer: { status: number; text: string };
  try {
    const response = await fetch(tokenUrl, {
      method: "POST",
      headers: { authorization: `Basic ${Buffer.from(`${clientId}:${clientSecret}`).toString("base64")}` },
      body: new URLSearchParams({ grant_type: "client_credentials", scope: SCOPE }),
      signal: AbortSignal.any([limit, shutdownSignal]),
    });
    answer = { status: response.status, text: await response.text() };
  } catch {
    const reason = limit.aborted ? `did not answer within ${REQUEST_LIMIT_MS / 1000} s` : "cannot be reached";
    throw new ModelFailure("model_error", `Gloo's token endpoint ${reason}.`);
  }
  if (answer.status !== 200) throw explainStatus(answer.status);
  const token = readToken(answer.text);
  if (token === null) throw new ModelFailure("model_error", "Gloo's token endpoint returned no token.");
  return token;
}

/** Omits the response body, which may repeat the credentials. */
function explainStatus(httpStatus: number): ModelFailure {
  if (httpStatus === 403)
    return new ModelFailure("authentication_required", `The Gloo client lacks the scope ${SCOPE} (403). To fix this, ${SCOPE_ADVICE}.`);
  if (httpStatus === 400 || httpStatus === 401)
    return new ModelFailure(
      "authentication_required",
      `Gloo rejected the client's credentials (${httpStatus}). Check GLOO_CLIENT_ID and GLOO_CLIENT_SECRET, and BRIDGE_GLOO_AI_TOKEN_URL if it is set.`,
    );
  if (httpStatus === 429) return new ModelFailure("rate_limited", "The rate limit of Gloo's token endpoint is exceeded (429).");
  return new ModelFailure("model_error", `Gloo's token endpoint returned HTTP ${httpStatus}.`);
}

/** Advice for a client that is not allowed to call the models. */
export const SCOPE_ADVICE = `give the client the scope ${SCOPE} in Gloo AI Studio`;

function readToken(text: string): z.infer<typeof tokenSchema> | null {
  try {
    return tokenSchema.parse(JSON.parse(text));
  } catch {
    return null;
  }
}
