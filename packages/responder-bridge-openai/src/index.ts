/** A provider of Responder Bridge: models behind an OpenAI-compatible API. */

export { OpenAiError } from "./openai-error.ts";
export { createOpenAiProvider, type OpenAiProviderOptions } from "./openai-provider.ts";
