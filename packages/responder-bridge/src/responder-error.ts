/** What can go wrong around the loop: with a material, the artifacts, the tool, or the request itself. */
export type ResponderErrorCode = "invalid_request" | "material_unreadable" | "artifacts_unwritable" | "tool_failed";

/** A run that could not go on. A document that stays invalid is no error. */
export class ResponderError extends Error {
  override readonly name = "ResponderError";
  readonly code: ResponderErrorCode;
  /** What the tool had written by then. */
  readonly output: string | null;

  constructor(code: ResponderErrorCode, message: string, options: { output?: string; cause?: unknown } = {}) {
    super(message, { cause: options.cause });
    this.code = code;
    this.output = options.output ?? null;
  }
}
