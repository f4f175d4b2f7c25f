/** The bytes of a file that a response contains; `last` is inclusive. */
export interface ByteRange {
  first: number;
  last: number;
}

/**
 * Parses a `Range` header. Returns null if the header is missing, malformed, or requests another unit or several
 * ranges: the HTTP standard then requires the whole file. Returns "unsatisfiable" if the range starts after the end of
 * the file.
 */
export function parseByteRange(header: string | undefined, size: number): ByteRange | null | "unsatisfiable" {
  const [, first = "", last = ""] = /^bytes=[ \t]*(\d*)-(\d*)[ \t]*$/i.exec(header ?? "") ?? [];
  if (first === "" && last === "") return null;
  if (first === "") return Number(last) === 0 || size === 0 ? "unsatisfiable" : { first: Math.max(0, size - Number(last)), last: size - 1 };
  if (last !== "" && Number(last) < Number(first)) return null;
  if (Number(first) >= size) return "unsatisfiable";
  return { first: Number(first), last: last === "" ? size - 1 : Math.min(Number(last), size - 1) };
}
