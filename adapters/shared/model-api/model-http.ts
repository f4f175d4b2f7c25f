import { EnvHttpProxyAgent, fetch as undiciFetch } from "undici";
import type { ProgramContext } from "../agent-program/agent-program.ts";
import { PROCESS_LIMITS } from "../process/run-process.ts";
import { limitBody } from "./limit-body.ts";
import type { ModelFetch } from "./model-endpoint.ts";
import { ModelFailure } from "./model-failure.ts";
import { sendWellFormed } from "./well-formed-body.ts";

const CONNECT_LIMIT_MS = 15_000;
/** Maximum size of one event, or of a response without events. */
const MAX_EVENT_BYTES = PROCESS_LIMITS.stdoutBytes;
/** Maximum size of a response. An event of a few characters has hundreds of bytes, so this is a multiple of the longest text. */
const MAX_RESPONSE_BYTES = 8 * MAX_EVENT_BYTES;
const createError = (): ModelFailure =>
  new ModelFailure(
    "output_limit",
    `The model's endpoint sent more than ${MAX_EVENT_BYTES / 1024 ** 2} MiB in one event, or ${MAX_RESPONSE_BYTES / 1024 ** 2} MiB in one response.`,
  );

export type ModelHttp = ReturnType<typeof createModelHttp>;

/**
 * Creates the HTTP client of an adapter for its models. It opens connections at the first request and has no response
 * timeout, because tasks have a time limit.
 */
export function createModelHttp({ env, lookup }: Pick<ProgramContext, "env" | "lookup">) {
  let dispatcher: EnvHttpProxyAgent | undefined;
  // The cast is needed because Node's types of fetch come from a different copy of undici.
  const fetchWithDispatcher = undiciFetch as unknown as (input: Parameters<ModelFetch>[0], init: object) => Promise<Response>;
  const fetch = sendWellFormed(async (input, init) => {
    dispatcher ??= createDispatcher(env, lookup);
    // A redirect would send the API key to another server.
    const response = await fetchWithDispatcher(input, { ...init, dispatcher, redirect: "error" });
    const perEvent = response.headers.get("content-type")?.startsWith("text/event-stream") === true;
    return limitBody(response, { bytes: MAX_EVENT_BYTES, perEvent, totalBytes: MAX_RESPONSE_BYTES, createError });
  });
  return {
    fetch,
    close: async (): Promise<void> => await dispatcher?.destroy(),
  };
}

/** Creates the connections to the vendors, through the HTTP proxy of the environment. Throws if the URL of the proxy is invalid. */
export const createDispatcher = (
  env: ProgramContext["env"],
  lookup: ProgramContext["lookup"],
  options: EnvHttpProxyAgent.Options = {},
): EnvHttpProxyAgent =>
  new EnvHttpProxyAgent({
    ...options,
    httpProxy: readVariable(env, "HTTP_PROXY"),
    httpsProxy: readVariable(env, "HTTPS_PROXY"),
    noProxy: readVariable(env, "NO_PROXY"),
    headersTimeout: 0,
    bodyTimeout: 0,
    connect: { timeout: CONNECT_LIMIT_MS, lookup },
    proxyTls: { lookup },
  });

/**
 * Describes an invalid proxy variable for the operator; null if all are valid. The value is not shown, because it can
 * contain a password.
 */
export function checkProxies({ env }: Pick<ProgramContext, "env">): string | null {
  const invalidName = ["HTTP_PROXY", "HTTPS_PROXY"].find((name) => {
    const value = readVariable(env, name);
    return value !== "" && !(URL.canParse(value) && /^(https?|socks5?):\/\//i.test(value));
  });
  return invalidName === undefined ? null : `${invalidName} is not a proxy URL. Use a URL such as http://proxy.example:3128.`;
}

const readVariable = (env: ProgramContext["env"], name: string): string => env[name] ?? env[name.toLowerCase()] ?? "";
