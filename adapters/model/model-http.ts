import { EnvHttpProxyAgent, fetch as fetchOf } from "undici";
import type { ProgramContext } from "../program/agent-program.ts";
import type { ModelFetch } from "./model-endpoint.ts";

/** The HTTP connections of one adapter to its models. */
export interface ModelHttp {
  fetch: ModelFetch;
  close(): Promise<void>;
}

const CONNECT_LIMIT_MS = 15_000;

/** Opens nothing before the first request. How long an answer may take is Bridge's to say, not the transport's. */
export function createModelHttp({ env }: Pick<ProgramContext, "env">): ModelHttp {
  const proxy = (name: string): string => env[name] ?? env[name.toLowerCase()] ?? "";
  const dispatcher = new EnvHttpProxyAgent({
    httpProxy: proxy("HTTP_PROXY"),
    httpsProxy: proxy("HTTPS_PROXY"),
    noProxy: proxy("NO_PROXY"),
    headersTimeout: 0,
    bodyTimeout: 0,
    connect: { timeout: CONNECT_LIMIT_MS },
  });
  // A redirect would take the key of the endpoint to wherever it leads.
  const own: typeof fetchOf = (input, init) => fetchOf(input, { ...init, dispatcher, redirect: "error" });
  return {
    // The same function by another name: Node's own types of it come from its own copy of undici.
    fetch: own as unknown as ModelFetch,
    close: () => dispatcher.destroy(),
  };
}
