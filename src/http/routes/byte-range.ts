/** The bytes of a file that an answer carries; `last` is inclusive. */
export interface ByteRange {
  first: number;
  last: number;
}

/**
 * The one range that a Range header asks for; null when it asks for none that Bridge serves (no header, another unit, several ranges,
 * malformed), which by the standard means the whole file. "unsatisfiable" lies behind the end of the file.
 */
export function readByteRange(header: string | undefined, size: number): ByteRange | null | "unsatisfiable" {
  const [, first = "", last = ""] = /^bytes=[ \t]*(\d*)-(\d*)[ \t]*$/i.exec(header ?? "") ?? [];
  if (first === "" && last === "") return null;
  if (first === "") return Number(last) === 0 || size === 0 ? "unsatisfiable" : { first: Math.max(0, size - Number(last)), last: size - 1 };
  if (last !== "" && Number(last) < Number(first)) return null;
  if (Number(first) >= size) return "unsatisfiable";
  return { first: Number(first), last: last === "" ? size - 1 : Math.min(Number(last), size - 1) };
}
