import type { FileHandle } from "node:fs/promises";
import { openRegularFile, pathOfOpenFile } from "@hak2i/nofollow-fs";

/** Reads a UTF-8 file verbatim. Rejects with the reason if it is not a text file or exceeds the limit. `file` is a real path. */
export async function readTextFile(file: string, maxBytes: number): Promise<{ text: string; bytes: number }> {
  const handle = (await openRegularFile(file)) ?? fail("not a regular file");
  try {
    // A directory in the path may have been replaced by a link since the path was resolved.
    if (pathOfOpenFile(handle.fd, file) !== file) fail("it was moved during the read");
    const { size } = await handle.stat();
    if (size > maxBytes) fail(`it has ${size} bytes; the limit is ${maxBytes}`);
    // Virtual files, for example in /proc, report the size 0 until they are read.
    const bytes = await readUpTo(handle, maxBytes + 1);
    if (bytes.length > maxBytes) fail(`it exceeds ${maxBytes} bytes`);
    return { text: decode(bytes), bytes: bytes.length };
  } finally {
    await handle.close();
  }
}

async function readUpTo(handle: FileHandle, limit: number): Promise<Buffer> {
  const buffer = Buffer.alloc(limit);
  for (let length = 0; ; ) {
    const { bytesRead } = await handle.read(buffer, length, limit - length, length);
    if (bytesRead === 0) return buffer.subarray(0, length);
    length += bytesRead;
  }
}

/** Returns why a file cannot be read, without its path. */
export function describeFault(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  return faults[code ?? ""] ?? code ?? message;
}

const faults: Readonly<Record<string, string>> = {
  ENOENT: "file not found",
  ENOTDIR: "file not found",
  EACCES: "permission denied",
  EISDIR: "not a regular file",
  ELOOP: "circular link",
};

function decode(bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return fail("not UTF-8 text");
  }
}

function fail(reason: string): never {
  throw new Error(reason);
}
