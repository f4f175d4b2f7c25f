import { createHash, hash } from "node:crypto";

/** In UTF-16 units. */
const SLICE_LENGTH = 64 * 1024;

/** SHA-256 (hex) of the text in UTF-8. A long text is hashed in slices, because hashing it at once makes up to two copies of it. */
export function sha256Hex(text: string): string {
  if (text.length <= SLICE_LENGTH) return hash("sha256", text);
  const sha = createHash("sha256");
  for (let start = 0; start < text.length; ) {
    const end = endOfSlice(text, start + SLICE_LENGTH);
    sha.update(text.slice(start, end));
    start = end;
  }
  return sha.digest("hex");
}

/** One further where the slice would separate the two halves of a character: alone, neither half can be encoded. */
function endOfSlice(text: string, end: number): number {
  const unit = text.charCodeAt(end - 1);
  return unit >= 0xd800 && unit <= 0xdbff ? end + 1 : end;
}
