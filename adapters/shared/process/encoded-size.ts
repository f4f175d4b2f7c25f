/** Returns the size of a text in a JSON string, in bytes of UTF-8 without the quotes: 6 for U+0001, 2 for a newline, 3 for U+FFFD. */
export function measureEncodedSize(text: string): number {
  const bytes = Buffer.byteLength(text);
  if (!NEEDS_ESCAPES.test(text)) return bytes;
  let size = bytes;
  for (let index = 0; index < text.length; index += 1) {
    const unit = text.charCodeAt(index);
    if (unit < 0x80) size += EXTRA_BYTES[unit] as number;
    else if (unit >= 0xd800 && unit <= 0xdfff) {
      const next = unit < 0xdc00 ? text.charCodeAt(index + 1) : 0;
      if (next >= 0xdc00 && next <= 0xdfff) index += 1;
      // JSON writes a lone surrogate as an escape of six bytes; byteLength counts it as the three bytes of U+FFFD.
      else size += 3;
    }
  }
  return size;
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what JSON escapes.
const NEEDS_ESCAPES = /["\\\u0000-\u001f\ud800-\udfff]/;

/** Additional bytes of each ASCII character in JSON. */
const EXTRA_BYTES = Uint8Array.from({ length: 0x80 }, (_, code) => JSON.stringify(String.fromCharCode(code)).length - 3);
