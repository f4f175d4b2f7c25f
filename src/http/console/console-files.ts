import { readdir, readFile } from "node:fs/promises";
import path from "node:path";
import { type EncodedDocument, encodeDocument } from "../wire/encoded-document.ts";

/** The console that `packages/console/build/` builds. */
const builtConsole = path.resolve(import.meta.dirname, "../../../packages/console/dist");

const types: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
};

/** Creates the reader of the console's files. It reads all of them at the first request, because most starts of Bridge need none. */
export function createConsoleFiles(directory = builtConsole) {
  let files: Promise<ReadonlyMap<string, EncodedDocument>> | undefined;
  return {
    /** Finds a file by its path below the console's directory; undefined if there is none. */
    async find(name: string): Promise<EncodedDocument | undefined> {
      files ??= readFiles(directory);
      try {
        return (await files).get(name);
      } catch (error) {
        // The console is not built, or a build is replacing it. The next request reads it again.
        files = undefined;
        if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
        throw error;
      }
    },
  };
}

async function readFiles(directory: string): Promise<ReadonlyMap<string, EncodedDocument>> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map((entry) => path.join(entry.parentPath, entry.name));
  const read = async (file: string) => [path.relative(directory, file).split(path.sep).join("/"), await readConsoleFile(file)] as const;
  return new Map(await Promise.all(files.map(read)));
}

const readConsoleFile = async (file: string): Promise<EncodedDocument> =>
  encodeDocument(types[path.extname(file)] ?? "application/octet-stream", await readFile(file));
