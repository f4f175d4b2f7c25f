import { nullIfAborted } from "@hak2i/async-kit";
import pRetry from "p-retry";
import { z } from "zod";
import type { ModelFetch } from "../shared/model-api/model-endpoint.ts";
import { ModelFailure } from "../shared/model-api/model-failure.ts";

/** What a client may ask for; the endpoint of the models wants no other scope. */
const SCOPE = "api/access";
const REFRESH_EARLY_MS = 60_000;
/** Nobody's task waits longer than this for a token, retries included. */
const MINT_LIMIT_MS = 15_000;
/** A token endpoint that restarts answers again within a second or so. */
const RETRIES = { retries: 2, minTimeout: 200 };

/** It becomes part of a header. */
const tokenSchema = z.object({ access_token: z.string().regex(/^[\x21-\x7e]+$/), expires_in: z.coerce.number().positive().default(3600) });

/** Whom to ask for tokens, and as whom. */
export interface TokenClient {
  tokenUrl: string;
  clientId: string;
  clientSecret: string;
  fetch: ModelFetch;
  /** Ends a mint that is under way: nobody will want its token. */
  closed: AbortSignal;
  /** The clock. Default: the machine's. */
  now?: () => number;
}

/** Holds one access token for all tasks. */
export interface TokenSource {
  /**
   * A token that is good for another while; `refused` is one that the endpoint has not taken. Whoever asks while one is being minted gets the same;
   * `signal` ends the waiting, never the mint.
   */
  take(signal: AbortSignal | undefined, refused?: string): Promise<string>;
  /** The token that is held, for whoever must keep it out of a text; empty without one. */
  readonly held: string;
}

/** Mints tokens by OAuth client credentials: early enough, one at a time, and again when one is refused. A mint that failed is not remembered. */
export function createTokenSource({ now = Date.now, ...client }: TokenClient): TokenSource {
  let held = { token: "", goodUntil: 0 };
  let minting: Promise<string> | null = null;

  const mint = async (): Promise<string> => {
    const askedAt = now();
    const limit = AbortSignal.timeout(MINT_LIMIT_MS);
    const { access_token: token, expires_in: seconds } = await pRetry(() => requestToken(client, limit), {
      ...RETRIES,
      // Another try does not change wrong credentials, and there is no time for one after the limit.
      shouldRetry: ({ error }) => !limit.aborted && !client.closed.aborted && isPassing(error),
    });
    const lifeMs = seconds * 1000;
    // One that lives no longer than the margin would be asked for with every call.
    held = { token, goodUntil: askedAt + lifeMs - Math.min(REFRESH_EARLY_MS, lifeMs / 2) };
    return token;
  };

  return {
    get held() {
      return held.token;
    },
    async take(signal, refused) {
      signal?.throwIfAborted();
      if (held.token !== refused && now() < held.goodUntil) return held.token;
      minting ??= mint().finally(() => {
        minting = null;
      });
      if (signal === undefined) return await minting;
      // Others wait for the same mint, so it goes on when one of them goes.
      const token = await nullIfAborted(minting, signal);
      if (token === null) throw signal.reason;
      return token;
    },
  };
}

const isPassing = (error: unknown): boolean => error instanceof ModelFailure && error.errorCode !== "authentication_required";

async function requestToken(
  { tokenUrl, clientId, clientSecret, fetch, closed }: Omit<TokenClient, "now">,
  limit: AbortSignal,
): Promise<z.infer<typeof tokenSchema>> {
  let answer: { status: number; text: string };
  try {
    const response = await fetch(tokenUrl, {
      method: "POST",
      headers: { authorization: `Basic ${Buffer.from(`${clientId}:${clientSecret}`).toString("base64")}` },
      body: new URLSearchParams({ grant_type: "client_credentials", scope: SCOPE }),
      signal: AbortSignal.any([limit, closed]),
    });
    answer = { status: response.status, text: await response.text() };
  } catch {
    const why = limit.aborted ? `did not answer within ${MINT_LIMIT_MS / 1000} s` : "cannot be reached";
    throw new ModelFailure("model_error", `Gloo's token endpoint ${why}.`);
  }
  if (answer.status !== 200) throw refusal(answer.status);
  const token = readToken(answer.text);
  if (token === null) throw new ModelFailure("model_error", "Gloo's token endpoint answered without a token.");
  return token;
}

/** In our own words: what the endpoint says may repeat what it was told. */
function refusal(httpStatus: number): ModelFailure {
  if (httpStatus === 403)
    return new ModelFailure("authentication_required", `The Gloo client lacks the scope ${SCOPE} (403): ${scopeAdvice}.`);
  if (httpStatus === 400 || httpStatus === 401)
    return new ModelFailure(
      "authentication_required",
      `Gloo does not accept the client (${httpStatus}): check GLOO_CLIENT_ID and GLOO_CLIENT_SECRET, and BRIDGE_GLOO_AI_TOKEN_URL if it is set.`,
    );
  if (httpStatus === 429) return new ModelFailure("rate_limited", "Gloo's token endpoint is over its rate limit (429).");
  return new ModelFailure("model_error", `Gloo's token endpoint answered ${httpStatus}.`);
}

/** What to do about a client that may not call the models. */
export const scopeAdvice = `give the client the scope ${SCOPE} in Gloo AI Studio`;

function readToken(text: string): z.infer<typeof tokenSchema> | null {
  try {
    return tokenSchema.parse(JSON.parse(text));
  } catch {
    return null;
  }
}
