/** Causes of a failed run: the request, a material, the artifacts or the tool. */
export type ResponderErrorCode = "invalid_request" | "material_unreadable" | "artifacts_unwritable" | "tool_failed";

/** A run failed. A document that stays invalid is not an error. */
export class ResponderError extends Error {
  override readonly name = "ResponderError";
  readonly code: ResponderErrorCode;
  /** Output of the tool until the failure. */
  readonly output: string | null;

  constructor(code: ResponderErrorCode, message: string, options: { output?: string; cause?: unknown } = {}) {
    super(message, { cause: options.cause });
    this.code = code;
    this.output = options.output ?? null;
  }
}
