import fc from "fast-check";

/** Any code point, halves of surrogate pairs included, and often one of the first 256: `binary` of fast-check first makes a table of them all. */
export const anyCharacter = fc
  .oneof(fc.integer({ min: 0, max: 0xff }), fc.integer({ min: 0, max: 0x10ffff }))
  .map((code) => String.fromCodePoint(code));
