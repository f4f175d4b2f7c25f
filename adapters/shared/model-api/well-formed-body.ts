import { toWellFormedJson } from "#contract";
import type { ModelFetch } from "./model-endpoint.ts";

/** Wraps a fetch function. Replaces unpaired surrogates in JSON bodies by U+FFFD, because model APIs and MCP servers reject them. */
export const sendWellFormed =
  (fetch: ModelFetch): ModelFetch =>
  (input, init) =>
    fetch(input, typeof init?.body === "string" ? { ...init, body: toWellFormedJson(init.body) } : init);
