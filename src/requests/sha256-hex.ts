import { createHash, hash } from "node:crypto";

/** In UTF-16 units. */
const SLICE_LENGTH = 64 * 1024;

/**
 * Returns the SHA-256 of the text in UTF-8. A long text is hashed in slices, because one call for the whole text allocates up to two
 * copies of it.
 */
export function sha256Hex(text: string): string {
  if (text.length <= SLICE_LENGTH) return hash("sha256", text);
  const sha = createHash("sha256");
  for (let start = 0; start < text.length; ) {
    const end = findSliceEnd(text, start + SLICE_LENGTH);
    sha.update(text.slice(start, end));
    start = end;
  }
  return sha.digest("hex");
}

/** Returns `end`, or `end + 1` if a slice would otherwise separate a surrogate pair. Lone surrogates cannot be encoded. */
function findSliceEnd(text: string, end: number): number {
  const unit = text.charCodeAt(end - 1);
  return unit >= 0xd800 && unit <= 0xdbff ? end + 1 : end;
}
