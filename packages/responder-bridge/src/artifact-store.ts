import { randomUUID } from "node:crypto";
import { lstat, mkdir, readdir, realpath, rename, rm, stat, writeFile } from "node:fs/promises";
import path from "node:path";
import { ResponderError } from "./responder-error.ts";

/** Where a run leaves what it has done. */
export interface ArtifactStore {
  /** Makes the directory, with its parts. One that holds anything already is refused: two runs never mix. */
  create(): Promise<void>;
  /** Writes a text, whole or not at all, over what had that name, and answers its absolute path. `name` is relative, with `/` between its parts. */
  write(name: string, text: string): Promise<string>;
  /** The names that were written, in order. */
  list(): string[];
}

/** Parts begin with a letter or a digit, so none of them leads up or out, or is taken for an option. */
const namePattern = /^[A-Za-z0-9][\w.-]*(\/[A-Za-z0-9][\w.-]*)*$/;

/** Creates a store in a directory of its own. Only its owner can read what is in it, for materials may be confidential. */
export function createArtifactStore(directory: string): ArtifactStore {
  const absolute = path.resolve(directory);
  const names = new Set<string>();
  let root: string | null = null;

  return {
    async create() {
      await makeDirectory(absolute).catch((error) => fail(directory, error));
      root = await realpath(absolute);
      const [present] = await readdir(root).catch((error) => fail(directory, error));
      if (present !== undefined) fail(directory, `it holds ${JSON.stringify(present)} already; name a new one`);
      // Of two runs that come at once only one can make it.
      await mkdir(path.join(root, "inputs"), { mode: 0o700 }).catch((error) => fail(directory, error));
    },

    async write(name, text) {
      if (root === null) throw new Error("the store has not been created");
      if (!namePattern.test(name)) throw new TypeError(`${JSON.stringify(name)} is no name of an artifact`);
      const file = path.join(root, name);
      try {
        await makeParents(root, name);
        await replaceFile(file, text);
      } catch (error) {
        fail(name, error);
      }
      names.add(name);
      return file;
    },

    list: () => [...names],
  };
}

/** Node's own way to make the parents, too, never ends where a directory is there and takes nothing, as in /proc. */
async function makeDirectory(directory: string): Promise<void> {
  const make = (): Promise<unknown> =>
    mkdir(directory, { mode: 0o700 }).catch(async (error: NodeJS.ErrnoException) => {
      if (error.code !== "EEXIST" || !(await stat(directory)).isDirectory()) throw error;
    });
  try {
    await make();
  } catch (error) {
    const parent = path.dirname(directory);
    if ((error as NodeJS.ErrnoException).code !== "ENOENT" || parent === directory) throw error;
    await makeDirectory(parent);
    await make();
  }
}

/** Step by step, for others may write here meanwhile, an agent behind the model for example: a link of theirs must not lead us out. */
async function makeParents(root: string, name: string): Promise<void> {
  let directory = root;
  for (const part of name.split("/").slice(0, -1)) {
    directory = path.join(directory, part);
    await mkdir(directory, { mode: 0o700 }).catch(() => {});
    if (!(await lstat(directory)).isDirectory()) throw new Error("something else has taken the place of its directory");
  }
}

async function replaceFile(file: string, text: string): Promise<void> {
  const draft = path.join(path.dirname(file), `.${randomUUID()}`);
  try {
    await writeFile(draft, text, { flag: "wx", mode: 0o600 });
    await rename(draft, file);
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
}

function fail(name: string, cause: unknown): never {
  const { code, message } = cause instanceof Error ? (cause as NodeJS.ErrnoException) : { code: undefined, message: String(cause) };
  throw new ResponderError("artifacts_unwritable", `The artifacts cannot be written to ${JSON.stringify(name)}: ${code ?? message}.`, {
    cause,
  });
}
