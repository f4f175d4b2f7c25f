/** What a question to a tool may carry. */
export interface ToolOptions {
  /** Stand after the topic, as they are. */
  arguments?: readonly string[] | undefined;
  signal?: AbortSignal | undefined;
}

/** What a tool says of a document. */
export interface Validation {
  ok: boolean;
  /** What the tool wrote, verbatim: the model mends the document by it. */
  logText: string;
}

/** A tool that says how a document has to be, and whether one is so. It rejects when it cannot tell, which is no verdict on the document. */
export interface ToolAdapter {
  /** Stands in `meta.json`. */
  readonly name?: string | undefined;
  describe(topic: string, options?: ToolOptions): Promise<string>;
  /** Null: there are none. */
  params?(topic: string, options?: ToolOptions): Promise<string | null>;
  validate(filePath: string, options?: Pick<ToolOptions, "signal">): Promise<Validation>;
  /** Null: not known. */
  version?(options?: Pick<ToolOptions, "signal">): Promise<string | null>;
}
