import type { SenderOptions } from "./request-sender.ts";

/** Address and time limits of a client. */
export interface ClientSettings {
  /** URL of Bridge, including the path prefix of a reverse proxy. */
  url: string | URL;
  /** Default: the `fetch` of the platform. */
  fetch?: typeof fetch | undefined;
  /** How long the client retries before it throws; long enough for a restart of Bridge. Default: 120,000. */
  patienceMs?: number | undefined;
  /**
   * Whether the client also retries if its address has never answered it, for example because Bridge is being started. By default it
   * throws `unreachable` at once, because the address is probably wrong.
   */
  waitsForStart?: boolean | undefined;
  /** First pause before a retry; doubled for each further retry, up to 20 times the first. Default: 500. */
  retryDelayMs?: number | undefined;
  /** Closes a connection that receives nothing for this long. Bridge sends a heartbeat every 15 s. Default: 31,000. */
  silenceMs?: number | undefined;
  /**
   * Parses the JSON of responses and events. Default: `JSON.parse`, which rounds integers above 2^53. Pass `parseExactJson` to keep them.
   */
  parseJson?: ((text: string) => unknown) | undefined;
}

/** The token of a client. */
export type TokenSource =
  | { token: string; getToken?: undefined }
  /** Called before every request, for tokens that change. */
  | { getToken: () => string | Promise<string>; token?: undefined };

/** Applies the defaults and parses the URL. Throws a TypeError for an invalid URL. */
export function resolveSettings(options: ClientSettings, getToken: SenderOptions["getToken"]): SenderOptions {
  const { url, patienceMs = 120_000, retryDelayMs = 500, silenceMs = 31_000, parseJson = (text) => JSON.parse(text) as unknown } = options;
  return {
    baseUrl: readBaseUrl(url),
    getToken,
    // Browsers throw if `fetch` is called as a method of another object.
    fetch: options.fetch ?? ((input, init) => fetch(input, init)),
    silenceMs,
    retryDelayMs,
    patienceMs,
    parseJson,
    contact: { hasAnswered: options.waitsForStart === true },
  };
}

function readBaseUrl(address: string | URL): string {
  const { href, protocol, username, password, search, hash } = new URL(address);
  if (!/^https?:$/.test(protocol) || username + password + search + hash !== "")
    throw new TypeError("`url` must be an http or https URL without credentials, query or fragment.");
  return href.replace(/\/*$/, "/");
}
