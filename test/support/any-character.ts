import fc from "fast-check";

/**
 * Generates any code point, including lone surrogates, and often one of the first 256. Faster than `binary` of fast-check, which builds a
 * table first.
 */
export const anyCharacter = fc
  .oneof(fc.integer({ min: 0, max: 0xff }), fc.integer({ min: 0, max: 0x10ffff }))
  .map((code) => String.fromCodePoint(code));
