/** Bytes that a text takes inside a JSON string, in UTF-8 and without the quotes: six for U+0001, two for a newline, three for U+FFFD. */
export function encodedSize(text: string): number {
  const bytes = Buffer.byteLength(text);
  if (!needsEscapes.test(text)) return bytes;
  let size = bytes;
  for (let index = 0; index < text.length; index += 1) {
    const unit = text.charCodeAt(index);
    if (unit < 0x80) size += extraBytes[unit] as number;
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
const needsEscapes = /["\\\u0000-\u001f\ud800-\udfff]/;

/** What JSON adds to an ASCII character. */
const extraBytes = Uint8Array.from({ length: 0x80 }, (_, code) => JSON.stringify(String.fromCharCode(code)).length - 3);
