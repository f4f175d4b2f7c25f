import { z } from "zod";

/** Returns the schema of a program with its arguments. All faults have one message, because the value is a single JSON text. */
export function argvSchema(example: string) {
  const message = `must be a JSON array of strings, for example ${example}`;
  return z.array(z.string(message).min(1, message), message).min(1, message);
}
