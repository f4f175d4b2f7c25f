/** One message to a model. */
export interface Message {
  role: "system" | "user" | "assistant";
  content: string;
}

/** What a model is asked. */
export interface GenerateRequest {
  /** Empty: the provider's own choice. */
  model: string;
  messages: Message[];
  temperature?: number | undefined;
  signal?: AbortSignal | undefined;
}

/** What one call of a model has used, in tokens. */
export interface GenerateUsage {
  /** All prompt tokens, cached ones included. */
  inputTokens: number;
  /** All generated tokens, thinking included. */
  outputTokens: number;
  thinkingTokens?: number | undefined;
  cacheReadTokens?: number | undefined;
}

/** What a model answers; `usage` is absent when it does not report it. */
export interface GenerateResult {
  text: string;
  usage?: GenerateUsage | undefined;
}

/** Who calls the model. Nothing else in the loop reaches the network. */
export interface Provider {
  /** Stands in `meta.json`. */
  readonly name?: string | undefined;
  /** Resolves with the whole text; rejects when there is none. Its error's message is kept, so it must hold no secret. */
  generate(request: GenerateRequest): Promise<GenerateResult>;
}
