import type { LookupFunction } from "node:net";
import type { Provider } from "@hak2i/responder-bridge";
import { EnvHttpProxyAgent } from "undici";
import { callApi } from "./call-api.ts";
import { readCompletion } from "./read-completion.ts";
import { readUsage } from "./read-usage.ts";
import { retry } from "./retry.ts";

/** Options of the provider. */
export interface OpenAiProviderOptions {
  /** URL of the API, with `/v1`. Default: `OPENAI_BASE_URL`, then `https://api.openai.com/v1`. */
  baseUrl?: string | undefined;
  /** Null: no key is sent. Default: `OPENAI_API_KEY`. */
  apiKey?: string | null | undefined;
  /** Time limit of one request with its complete response. Default: 600,000. */
  timeoutMs?: number | undefined;
  /** Maximum number of retries of a request that failed temporarily. Default: 2. */
  retries?: number | undefined;
  /** First pause before a retry, unless the API requests another one; doubled for each further retry. Default: 1,000. */
  retryDelayMs?: number | undefined;
  /** The request fails if the API requests a longer pause. Default: 60,000. */
  maxRetryDelayMs?: number | undefined;
  /** Resolves the host of the API and of a proxy. Default: the resolver of the system. */
  lookup?: LookupFunction | undefined;
}

const OPENAI_URL = "https://api.openai.com/v1";

/** Maximum duration of a Node timer; a longer one fires immediately. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** Creates a provider for the models of an OpenAI-compatible API. Throws a TypeError for an invalid option. */
export function createOpenAiProvider(options: OpenAiProviderOptions = {}): Provider {
  const { env } = process;
  const { timeoutMs = 600_000, retries = 2, retryDelayMs = 1_000, maxRetryDelayMs = 60_000 } = options;
  checkIntegers({ timeoutMs, retries, retryDelayMs, maxRetryDelayMs });
  const baseUrl = checkUrl(options.baseUrl ?? (env["OPENAI_BASE_URL"] || OPENAI_URL));
  const apiKey = checkKey(options.apiKey === undefined ? (env["OPENAI_API_KEY"] ?? null) : options.apiKey, baseUrl);
  // The time limit of a request is `timeoutMs` only: a long document may take minutes before its first byte.
  const dispatcher = new EnvHttpProxyAgent({
    headersTimeout: 0,
    bodyTimeout: 0,
    ...(options.lookup !== undefined && { connect: { lookup: options.lookup }, proxyTls: { lookup: options.lookup } }),
  });

  return {
    name: "openai",
    async generate({ model, messages, temperature, signal }) {
      if (model === "") throw new TypeError("An OpenAI-compatible API requires the name of a model.");
      const body = { model, messages, ...(temperature !== undefined && { temperature }) };
      const call = { target: `${baseUrl}/chat/completions`, apiKey, body, timeoutMs, signal, dispatcher };
      const answer = await retry(() => callApi(call), { retries, retryDelayMs, maxRetryDelayMs }, signal);
      return { text: readCompletion(answer), usage: readUsage(answer) };
    },
  };
}

/** Checks the base URL. The errors do not repeat it, because it may contain a secret. */
function checkUrl(value: string): string {
  const url = URL.canParse(value) ? new URL(value) : null;
  if (url === null || !/^https?:$/.test(url.protocol))
    throw new TypeError("The base URL must be an http or https URL such as https://api.openai.com/v1.");
  if (url.username !== "" || url.password !== "" || url.search !== "" || url.hash !== "") {
    throw new TypeError("The base URL must not contain a user name, a password, a query or a fragment.");
  }
  return url.href.replace(/\/+$/, "");
}

function checkKey(value: string | null, baseUrl: string): string | null {
  const key = value?.trim() ?? "";
  if (!/^[\x21-\x7e]*$/.test(key)) throw new TypeError("The API key contains characters that are not allowed in a header.");
  // Models on the same machine need no key.
  if (key === "" && baseUrl === OPENAI_URL) throw new TypeError("No API key: set OPENAI_API_KEY.");
  return key === "" ? null : key;
}

function checkIntegers(numbers: Record<string, number>): void {
  const invalid = Object.entries(numbers).find(([, value]) => !Number.isInteger(value) || value < 0 || value > MAX_TIMER_MS);
  if (invalid !== undefined) throw new TypeError(`${invalid[0]} must be an integer from 0 to ${MAX_TIMER_MS}; got ${invalid[1]}.`);
}
