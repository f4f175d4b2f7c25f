import { z } from "zod";

/** A program with its arguments. One message covers all faults, because the whole value is a single JSON text. */
export function argv(example: string) {
  const message = `must be a JSON array of strings, for example ${example}`;
  return z.array(z.string(message).min(1, message), message).min(1, message);
}
