import { crc32 } from "node:zlib";

/** The first of January 1980, at which ZIP begins to count: the same content always makes the same archive. */
const DATE = 0x21;
const VERSION = 20;
const UTF8_NAMES = 0x800;

/** A ZIP archive of one file, not compressed: what the gateway takes for a skill. */
export function zipFile(name: string, content: Buffer): Buffer {
  const fileName = Buffer.from(name);
  const entry = Buffer.concat([
    words(VERSION, UTF8_NAMES, 0, 0, DATE),
    longs(crc32(content), content.length, content.length),
    words(fileName.length, 0),
  ]);
  const local = Buffer.concat([longs(0x04034b50), entry, fileName, content]);
  // No comment, the first disk, no attributes, and where the file begins.
  const directory = Buffer.concat([longs(0x02014b50), words(VERSION), entry, words(0, 0, 0), longs(0, 0), fileName]);
  const end = Buffer.concat([longs(0x06054b50), words(0, 0, 1, 1), longs(directory.length, local.length), words(0)]);
  return Buffer.concat([local, directory, end]);
}

const words = (...values: number[]): Buffer => Buffer.from(Uint16Array.from(values).buffer);
const longs = (...values: number[]): Buffer => Buffer.from(Uint32Array.from(values).buffer);
