import { crc32 } from "node:zlib";

/** January 1, 1980, the start of ZIP dates. A constant date makes equal content produce an equal archive. */
const DATE = 0x21;
const VERSION = 20;
const UTF8_NAMES = 0x800;

/** Builds an uncompressed ZIP archive of one file, the format in which the gateway accepts a skill. */
export function createZipFile(name: string, content: Buffer): Buffer {
  const fileName = Buffer.from(name);
  const entry = Buffer.concat([
    uint16s(VERSION, UTF8_NAMES, 0, 0, DATE),
    uint32s(crc32(content), content.length, content.length),
    uint16s(fileName.length, 0),
  ]);
  const local = Buffer.concat([uint32s(0x04034b50), entry, fileName, content]);
  // The zero fields are: comment, disk number, attributes, offset of the file.
  const directory = Buffer.concat([uint32s(0x02014b50), uint16s(VERSION), entry, uint16s(0, 0, 0), uint32s(0, 0), fileName]);
  const end = Buffer.concat([uint32s(0x06054b50), uint16s(0, 0, 1, 1), uint32s(directory.length, local.length), uint16s(0)]);
  return Buffer.concat([local, directory, end]);
}

const uint16s = (...values: number[]): Buffer => Buffer.from(Uint16Array.from(values).buffer);
const uint32s = (...values: number[]): Buffer => Buffer.from(Uint32Array.from(values).buffer);
