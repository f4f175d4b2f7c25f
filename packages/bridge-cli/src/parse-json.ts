const { rawJSON } = JSON as JSON & { rawJSON(text: string): unknown };

/**
 * Parses JSON of the user, which may begin with a byte order mark. A number that JavaScript would change is sent as it was written, so that
 * Bridge checks what the user wrote. Throws SyntaxError.
 */
export const parseJson = (text: string): unknown => JSON.parse(text.trim(), keepNumber as (key: string, value: unknown) => unknown);

function keepNumber(_key: string, value: unknown, { source = "" }: { source?: string }): unknown {
  if (typeof value !== "number") return value;
  const isKept = /^-?\d+$/.test(source) ? Number.isSafeInteger(value) : Number.isFinite(value);
  return isKept ? value : rawJSON(source);
}
