/** Options of a tool operation. */
export interface ToolOptions {
  /** Passed unchanged after the topic. */
  arguments?: readonly string[] | undefined;
  signal?: AbortSignal | undefined;
}

/** Verdict of a tool on a document. */
export interface Validation {
  ok: boolean;
  /** Output of the tool, verbatim; sent to the model to correct the document. */
  logText: string;
}

/** A tool that describes a format and validates documents. `validate` rejects when the tool fails, which is not a verdict. */
export interface ToolAdapter {
  /** Name in `meta.json`. */
  readonly name?: string | undefined;
  describe(topic: string, options?: ToolOptions): Promise<string>;
  /** Null: no params. */
  params?(topic: string, options?: ToolOptions): Promise<string | null>;
  validate(filePath: string, options?: Pick<ToolOptions, "signal">): Promise<Validation>;
  /** Null: unknown. */
  version?(options?: Pick<ToolOptions, "signal">): Promise<string | null>;
}
