/** One message to a model. */
export interface Message {
  role: "system" | "user" | "assistant";
  content: string;
}

/** One request to a model. */
export interface GenerateRequest {
  /** Empty: the default of the provider. */
  model: string;
  messages: Message[];
  temperature?: number | undefined;
  signal?: AbortSignal | undefined;
}

/** Token usage of one model call. */
export interface GenerateUsage {
  /** All prompt tokens, cached ones included. */
  inputTokens: number;
  /** All generated tokens, thinking included. */
  outputTokens: number;
  thinkingTokens?: number | undefined;
  cacheReadTokens?: number | undefined;
}

/** Result of a model call; `usage` is absent when the model does not report it. */
export interface GenerateResult {
  text: string;
  usage?: GenerateUsage | undefined;
}

/** Calls the model. No other part of the loop accesses the network. */
export interface Provider {
  /** Name in `meta.json`. */
  readonly name?: string | undefined;
  /** Resolves with the complete text; rejects when there is none. The message of the error is stored, so it must not contain secrets. */
  generate(request: GenerateRequest): Promise<GenerateResult>;
}
