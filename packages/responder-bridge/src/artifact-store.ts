import { mkdir, readdir } from "node:fs/promises";
import path from "node:path";
import { type HeldDirectory, makeDirectoryInside, makePrivateDirectory, writeFileInside } from "@hak2i/nofollow-fs";
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

/** The location of a store. */
export interface ArtifactStoreOptions {
  /** A trusted directory that others write to. The directory of the store is relative to it, and no link is followed below it. Default: there is none. */
  root?: string | undefined;
}

/**
 * Creates a store in a directory of its own. Only its owner can read what is in it, for materials may be confidential. Other programs
 * may write there meanwhile, such as an agent behind the model. Links that they create are never followed.
 */
export function createArtifactStore(directory: string, { root }: ArtifactStoreOptions = {}): ArtifactStore {
  const absolute = path.resolve(root ?? "", directory);
  const names = new Set<string>();
  let isCreated = false;

  const openDirectory = (parents: readonly string[] = []): Promise<HeldDirectory> =>
    root === undefined ? makeDirectoryInside(absolute, parents) : makeDirectoryInside(root, [...directory.split("/"), ...parents]);

  return {
    async create() {
      try {
        if (root === undefined) makePrivateDirectory(absolute);
        using made = await openDirectory();
        const [present] = await readdir(made.path);
        if (present !== undefined) fail(directory, `it holds ${JSON.stringify(present)} already; name a new one`);
        // Only one of two concurrent runs can create it.
        await mkdir(path.join(made.path, "inputs"), { mode: 0o700 });
        isCreated = true;
      } catch (error) {
        if (error instanceof ResponderError) throw error;
        fail(directory, error);
      }
    },

    async write(name, text) {
      if (!isCreated) throw new Error("the store has not been created");
      if (!namePattern.test(name)) throw new TypeError(`${JSON.stringify(name)} is no name of an artifact`);
      const parts = name.split("/");
      try {
        using parent = await openDirectory(parts.slice(0, -1));
        await writeFileInside(parent, parts.at(-1) ?? "", text);
      } catch (error) {
        fail(name, error);
      }
      names.add(name);
      return path.join(absolute, name);
    },

    list: () => [...names],
  };
}

function fail(name: string, cause: unknown): never {
  const { code, message } = cause instanceof Error ? (cause as NodeJS.ErrnoException) : { code: undefined, message: String(cause) };
  throw new ResponderError("artifacts_unwritable", `The artifacts cannot be written to ${JSON.stringify(name)}: ${code ?? message}.`, {
    cause,
  });
}
