import type { exitCodes } from "./exit-codes.ts";

/** An error of the command line itself. The kind determines the exit code; the hint states what the user can do. */
export class CommandError extends Error {
  override readonly name = "CommandError";
  readonly kind: keyof typeof exitCodes;
  readonly hint: string | null;

  constructor(kind: keyof typeof exitCodes, message: string, { hint = null, cause }: { hint?: string | null; cause?: unknown } = {}) {
    super(message, { cause });
    this.kind = kind;
    this.hint = hint;
  }
}
