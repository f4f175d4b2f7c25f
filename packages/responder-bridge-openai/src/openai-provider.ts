import type { LookupFunction } from "node:net";
import type { Provider } from "@hak2i/responder-bridge";
import { EnvHttpProxyAgent } from "undici";
import { callApi } from "./call-api.ts";
import { keepTrying } from "./keep-trying.ts";
import { readCompletion } from "./read-completion.ts";
import { readUsage } from "./read-usage.ts";

/** Where the models are, and how patient the provider is with them. */
export interface OpenAiProviderOptions {
  /** With its `/v1`. Default: `OPENAI_BASE_URL`, then `https://api.openai.com/v1`. */
  baseUrl?: string | undefined;
  /** Null: none is sent. Default: `OPENAI_API_KEY`. */
  apiKey?: string | null | undefined;
  /** Of one request with its whole answer. Default: 600,000. */
  timeoutMs?: number | undefined;
  /** How often a request that failed is sent again, where that can help. Default: 2. */
  retries?: number | undefined;
  /** The first pause between two requests, unless the API names one; each further one is twice as long. Default: 1,000. */
  retryDelayMs?: number | undefined;
  /** If the API asks for a longer pause, the request has failed. Default: 60,000. */
  maxRetryDelayMs?: number | undefined;
  /** Looks up the host of the API, and of a proxy. Default: the system's resolver. */
  lookup?: LookupFunction | undefined;
}

const OPENAI_URL = "https://api.openai.com/v1";

/** A timer of more goes off at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** Creates a provider of the models behind an OpenAI-compatible API; nothing is sent before the first call. */
export function createOpenAiProvider(options: OpenAiProviderOptions = {}): Provider {
  const { env } = process;
  const { timeoutMs = 600_000, retries = 2, retryDelayMs = 1_000, maxRetryDelayMs = 60_000 } = options;
  checkWhole({ timeoutMs, retries, retryDelayMs, maxRetryDelayMs });
  const baseUrl = checkUrl(options.baseUrl ?? (env["OPENAI_BASE_URL"] || OPENAI_URL));
  const apiKey = checkKey(options.apiKey === undefined ? (env["OPENAI_API_KEY"] ?? null) : options.apiKey, baseUrl);
  // A long document may take its time before its first byte: the limit is ours alone.
  const dispatcher = new EnvHttpProxyAgent({
    headersTimeout: 0,
    bodyTimeout: 0,
    ...(options.lookup !== undefined && { connect: { lookup: options.lookup }, proxyTls: { lookup: options.lookup } }),
  });

  return {
    name: "openai",
    async generate({ model, messages, temperature, signal }) {
      if (model === "") throw new TypeError("An OpenAI-compatible API needs the name of a model.");
      const body = { model, messages, ...(temperature !== undefined && { temperature }) };
      const call = { target: `${baseUrl}/chat/completions`, apiKey, body, timeoutMs, signal, dispatcher };
      const answer = await keepTrying(() => callApi(call), { retries, retryDelayMs, maxRetryDelayMs }, signal);
      return { text: readCompletion(answer), usage: readUsage(answer) };
    },
  };
}

/** No setting is shown as it is where it could hold a secret. */
function checkUrl(value: string): string {
  const url = URL.canParse(value) ? new URL(value) : null;
  if (url === null || !/^https?:$/.test(url.protocol))
    throw new TypeError("The base URL is no http(s) address; it looks like https://api.openai.com/v1.");
  if (url.username !== "" || url.password !== "" || url.search !== "" || url.hash !== "") {
    throw new TypeError("The base URL must be an address with a path and no more: no name, no password, no query.");
  }
  return url.href.replace(/\/+$/, "");
}

function checkKey(value: string | null, baseUrl: string): string | null {
  const key = value?.trim() ?? "";
  if (!/^[\x21-\x7e]*$/.test(key)) throw new TypeError("The key holds characters that a header cannot carry.");
  // Models on one's own machine need none.
  if (key === "" && baseUrl === OPENAI_URL) throw new TypeError("There is no key: set OPENAI_API_KEY.");
  return key === "" ? null : key;
}

function checkWhole(numbers: Record<string, number>): void {
  const wrong = Object.entries(numbers).find(([, value]) => !Number.isInteger(value) || value < 0 || value > LONGEST_TIMER_MS);
  if (wrong !== undefined) throw new TypeError(`${wrong[0]} has to be a whole number from 0 to ${LONGEST_TIMER_MS}.`);
}
