import { EnvHttpProxyAgent, fetch as fetchOf } from "undici";
import type { ProgramContext } from "../agent-program/agent-program.ts";
import { PROCESS_LIMITS } from "../process/run-process.ts";
import { limitBody } from "./limit-body.ts";
import type { ModelFetch } from "./model-endpoint.ts";
import { ModelFailure } from "./model-failure.ts";

/** The HTTP connections of one adapter to its models. */
export interface ModelHttp {
  fetch: ModelFetch;
  close(): Promise<void>;
}

const CONNECT_LIMIT_MS = 15_000;
/** The most that an endpoint may say at once; the answer of a model comes in many small events. */
const MAX_HELD_BYTES = PROCESS_LIMITS.stdoutBytes;
/** The most that one answer may have: many times what the longest text takes, whose few characters in each event come with hundreds of bytes. */
const MAX_ANSWER_BYTES = 8 * MAX_HELD_BYTES;
const excess = (): ModelFailure =>
  new ModelFailure(
    "output_limit",
    `The model's endpoint has sent more than ${MAX_HELD_BYTES / 1024 ** 2} MiB at once, or ${MAX_ANSWER_BYTES / 1024 ** 2} MiB in one answer.`,
  );

/** Opens nothing before the first request. How long an answer may take is Bridge's to say, not the transport's. */
export function createModelHttp({ env, lookup }: Pick<ProgramContext, "env" | "lookup">): ModelHttp {
  let dispatcher: EnvHttpProxyAgent | undefined;
  // The same function by another name: Node's own types of it come from its own copy of undici.
  const anyFetch = fetchOf as unknown as (input: Parameters<ModelFetch>[0], init: object) => Promise<Response>;
  return {
    async fetch(input, init) {
      dispatcher ??= createDispatcher(env, lookup);
      // A redirect would take the key of the endpoint to wherever it leads.
      const response = await anyFetch(input, { ...init, dispatcher, redirect: "error" });
      const perEvent = response.headers.get("content-type")?.startsWith("text/event-stream") === true;
      return limitBody(response, { bytes: MAX_HELD_BYTES, perEvent, totalBytes: MAX_ANSWER_BYTES, excess });
    },
    close: async () => await dispatcher?.destroy(),
  };
}

/** Throws where there is a fault in the proxies. */
const createDispatcher = (env: ProgramContext["env"], lookup: ProgramContext["lookup"]): EnvHttpProxyAgent =>
  new EnvHttpProxyAgent({
    httpProxy: variable(env, "HTTP_PROXY"),
    httpsProxy: variable(env, "HTTPS_PROXY"),
    noProxy: variable(env, "NO_PROXY"),
    headersTimeout: 0,
    bodyTimeout: 0,
    connect: { timeout: CONNECT_LIMIT_MS, lookup },
    proxyTls: { lookup },
  });

/** What is wrong with the proxies that the environment names, in words for the operator; null when nothing is. Their URLs may hold a password. */
export function faultInProxies({ env }: Pick<ProgramContext, "env">): string | null {
  const wrong = ["HTTP_PROXY", "HTTPS_PROXY"].find((name) => {
    const value = variable(env, name);
    return value !== "" && !(URL.canParse(value) && /^(https?|socks5?):\/\//i.test(value));
  });
  return wrong === undefined ? null : `${wrong} is no URL of a proxy: write it like http://proxy.example:3128.`;
}

const variable = (env: ProgramContext["env"], name: string): string => env[name] ?? env[name.toLowerCase()] ?? "";
