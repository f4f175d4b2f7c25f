import { readdir, readFile } from "node:fs/promises";
import path from "node:path";
import { promisify } from "node:util";
import { gzip } from "node:zlib";

/** The built console. */
const directory = path.resolve(import.meta.dirname, "../../../web/dist");

const types: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
};

/** One file of the console. */
export interface ConsoleFile {
  type: string;
  bytes: Buffer;
  compressed: Buffer;
}

/** Creates the reader of the console's files. It reads all of them at the first request, because most starts of Bridge need none. */
export function createConsoleFiles() {
  let files: Promise<ReadonlyMap<string, ConsoleFile>> | undefined;
  return {
    /** Finds a file by its path below the console's directory; undefined if there is none. */
    async find(name: string): Promise<ConsoleFile | undefined> {
      files ??= readFiles();
      return (await files).get(name);
    },
  };
}

async function readFiles(): Promise<ReadonlyMap<string, ConsoleFile>> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map((entry) => path.join(entry.parentPath, entry.name));
  return new Map(await Promise.all(files.map(async (file) => [toName(file), await readConsoleFile(file)] as const)));
}

async function readConsoleFile(file: string): Promise<ConsoleFile> {
  const bytes = await readFile(file);
  const type = types[path.extname(file)] ?? "application/octet-stream";
  return { type, bytes, compressed: await promisify(gzip)(bytes) };
}

const toName = (file: string): string => path.relative(directory, file).split(path.sep).join("/");
