import { toWellFormedJson } from "#contract";
import type { ModelFetch } from "./model-endpoint.ts";

/** Wraps a fetch: a JSON body has U+FFFD in place of unpaired surrogates, which vendors and MCP servers reject. */
export const sendWellFormed =
  (fetch: ModelFetch): ModelFetch =>
  (input, init) =>
    fetch(input, typeof init?.body === "string" ? { ...init, body: toWellFormedJson(init.body) } : init);
