import type { FileHandle } from "node:fs/promises";
import { openRegularFile, pathOfOpenFile } from "@hak2i/nofollow-fs";

/** The text of a file, verbatim; throws with the reason in words where it has none, or more than the limit. `file` is a real path. */
export async function readTextFile(file: string, maxBytes: number): Promise<{ text: string; bytes: number }> {
  const handle = (await openRegularFile(file)) ?? fail("it is no file");
  try {
    // A link may have been put in the place of one of its directories since the path was looked up.
    if (pathOfOpenFile(handle.fd, file) !== file) fail("it was moved while it was read");
    const { size } = await handle.stat();
    if (size > maxBytes) fail(`it has ${size} bytes, and ${maxBytes} are allowed`);
    // Files in memory, those of /proc for example, have no size before they are read.
    const bytes = await readUpTo(handle, maxBytes + 1);
    if (bytes.length > maxBytes) fail(`it has more than ${maxBytes} bytes`);
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

/** What keeps a file from being read, without its path. */
export function describeFault(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  return faults[code ?? ""] ?? code ?? message;
}

const faults: Readonly<Record<string, string>> = {
  ENOENT: "there is no such file",
  ENOTDIR: "there is no such file",
  EACCES: "it may not be read",
  EISDIR: "it is no file",
  ELOOP: "it is a link that leads nowhere",
};

function decode(bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return fail("it is no text in UTF-8");
  }
}

function fail(reason: string): never {
  throw new Error(reason);
}
