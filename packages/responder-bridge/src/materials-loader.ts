import { realpath } from "node:fs/promises";
import path from "node:path";
import { labelPaths } from "./label-paths.ts";
import { describeFault, readTextFile } from "./read-text-file.ts";
import { ResponderError } from "./responder-error.ts";

/** Reads the files that a document is based on. */
export interface MaterialsLoader {
  /** Returns the content of the named files, each verbatim in a block with a label. A file that is named twice is read once. */
  load(paths: readonly string[]): Promise<string>;
}

/** Directories and limits for reading files. */
export interface MaterialsLoaderOptions {
  /** Base of relative paths. Default: the current directory. */
  cwd?: string | undefined;
  /** Files outside this directory are rejected, also if a link leads to them. Default: no restriction. */
  root?: string | undefined;
  /** Size limit of one file, in bytes. Default: 2 MiB. */
  maxFileBytes?: number | undefined;
  /** Size limit of all files together, in bytes. Default: 8 MiB. */
  maxTotalBytes?: number | undefined;
}

/** Creates a loader of local text files. */
export function createMaterialsLoader(options: MaterialsLoaderOptions = {}): MaterialsLoader {
  const { cwd = process.cwd(), root, maxFileBytes = 2 * 1024 ** 2, maxTotalBytes = 8 * 1024 ** 2 } = options;

  return {
    async load(names) {
      // Keyed by real path, because two names may refer to one file.
      const files = new Map<string, string>();
      for (const name of names) files.set(await find(name), name);
      const texts: string[] = [];
      let totalBytes = 0;
      for (const [file, name] of files) {
        const { text, bytes } = await readTextFile(file, maxFileBytes).catch((error) => refuse(name, describeFault(error)));
        totalBytes += bytes;
        if (totalBytes > maxTotalBytes) refuse(name, `the materials together exceed ${maxTotalBytes} bytes`);
        texts.push(text);
      }
      const labels = labelPaths([...files.keys()]);
      const fence = chooseFence(texts);
      return texts.map((text, index) => wrap(labels[index] ?? "", text, fence)).join("\n\n");
    },
  };

  async function find(name: string): Promise<string> {
    const file = await realpath(path.resolve(cwd, name)).catch((error) => refuse(name, describeFault(error)));
    if (root !== undefined && !isInside(await realpath(root), file)) refuse(name, "it is outside the directory whose files may be read");
    return file;
  }
}

const wrap = (label: string, text: string, fence: string): string =>
  `${fence} ${label} ${fence}\n${text}\n${fence} end of ${label} ${fence}`;

/** Returns a fence longer than any at the start of a line of a text, so that no text can end its block or imitate another block. */
function chooseFence(texts: readonly string[]): string {
  const found = texts.flatMap((text) => text.match(/^={3,}(?= )/gm) ?? []);
  return found.reduce((longest, one) => (one.length >= longest.length ? `${one}=` : longest), "===");
}

function isInside(directory: string, file: string): boolean {
  const relative = path.relative(directory, file);
  return relative !== ".." && !relative.startsWith(`..${path.sep}`) && !path.isAbsolute(relative);
}

function refuse(name: string, reason: string): never {
  throw new ResponderError("material_unreadable", `Cannot read the material ${JSON.stringify(name)}: ${reason}.`);
}
