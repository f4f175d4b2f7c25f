import { realpath } from "node:fs/promises";
import path from "node:path";
import { labelPaths } from "./label-paths.ts";
import { describeFault, readTextFile } from "./read-text-file.ts";
import { ResponderError } from "./responder-error.ts";

/** Reads what a document is to be made of. */
export interface MaterialsLoader {
  /** The named files and no others, each verbatim in a block under its label. A file that is named twice is read once. */
  load(paths: readonly string[]): Promise<string>;
}

/** From where files are read, and how much of them. */
export interface MaterialsLoaderOptions {
  /** Relative paths begin here. Default: the current directory. */
  cwd?: string | undefined;
  /** Nothing outside of this directory is read, whichever way a path or a link leads there. Default: there is no such border. */
  root?: string | undefined;
  /** Of one file. Default: 2 MiB. */
  maxFileBytes?: number | undefined;
  /** Of all files together. Default: 8 MiB. */
  maxTotalBytes?: number | undefined;
}

/** Creates a loader of local text files. */
export function createMaterialsLoader(options: MaterialsLoaderOptions = {}): MaterialsLoader {
  const { cwd = process.cwd(), root, maxFileBytes = 2 * 1024 ** 2, maxTotalBytes = 8 * 1024 ** 2 } = options;

  return {
    async load(names) {
      // By their real paths: two names may lead to one file.
      const files = new Map<string, string>();
      for (const name of names) files.set(await find(name), name);
      const texts: string[] = [];
      let totalBytes = 0;
      for (const [file, name] of files) {
        const { text, bytes } = await readTextFile(file, maxFileBytes).catch((error) => refuse(name, describeFault(error)));
        totalBytes += bytes;
        if (totalBytes > maxTotalBytes) refuse(name, `with it the materials have more than ${maxTotalBytes} bytes`);
        texts.push(text);
      }
      const labels = labelPaths([...files.keys()]);
      const fence = fenceFor(texts);
      return texts.map((text, index) => wrap(labels[index] ?? "", text, fence)).join("\n\n");
    },
  };

  async function find(name: string): Promise<string> {
    const file = await realpath(path.resolve(cwd, name)).catch((error) => refuse(name, describeFault(error)));
    if (root !== undefined && !isInside(await realpath(root), file)) refuse(name, "it is outside of the directory whose files may be read");
    return file;
  }
}

const wrap = (label: string, text: string, fence: string): string =>
  `${fence} ${label} ${fence}\n${text}\n${fence} end of ${label} ${fence}`;

/** Longer than any that begins a line of a text: none ends its own block, or begins one in the name of another. */
function fenceFor(texts: readonly string[]): string {
  const found = texts.flatMap((text) => text.match(/^={3,}(?= )/gm) ?? []);
  return found.reduce((longest, one) => (one.length >= longest.length ? `${one}=` : longest), "===");
}

function isInside(directory: string, file: string): boolean {
  const way = path.relative(directory, file);
  return way !== ".." && !way.startsWith(`..${path.sep}`) && !path.isAbsolute(way);
}

function refuse(name: string, reason: string): never {
  throw new ResponderError("material_unreadable", `The material ${JSON.stringify(name)} cannot be used: ${reason}.`);
}
