import { mkdir, readdir } from "node:fs/promises";
import path from "node:path";
import { type HeldDirectory, makeDirectoryInside, makePrivateDirectory, writeFileInside } from "@hak2i/nofollow-fs";
import { ResponderError } from "./responder-error.ts";

/** Stores the files of one run. */
export interface ArtifactStore {
  /** Creates the directory and its parents. Rejects if the directory is not empty, so that two runs never share one. */
  create(): Promise<void>;
  /** Writes or replaces a file atomically and returns its absolute path. `name` is relative, with `/` as the separator. */
  write(name: string, text: string): Promise<string>;
  /** Returns the names of the files, in the order in which they were first written. */
  list(): string[];
}

/** Each part starts with a letter or a digit, so a name cannot leave the directory or look like an option of a program. */
const NAME_PATTERN = /^[A-Za-z0-9][\w.-]*(\/[A-Za-z0-9][\w.-]*)*$/;

/** The location of a store. */
export interface ArtifactStoreOptions {
  /**
   * A trusted directory that other programs write to. The directory of the store is relative to it, and no link below
   * it is followed. Default: none.
   */
  root?: string | undefined;
}

/**
 * Creates a store in its own directory. Only the owner can read the files, because materials may be confidential. Other
 * programs, such as an agent, may write to the directory at the same time; links that they create are never followed.
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
        using opened = await openDirectory();
        const [present] = await readdir(opened.path);
        if (present !== undefined) fail(directory, `it already contains ${JSON.stringify(present)}; choose a new or an empty directory`);
        // Of two concurrent runs, only one can create this directory.
        await mkdir(path.join(opened.path, "inputs"), { mode: 0o700 });
        isCreated = true;
      } catch (error) {
        if (error instanceof ResponderError) throw error;
        fail(directory, error);
      }
    },

    async write(name, text) {
      if (!isCreated) throw new Error("the store has not been created");
      if (!NAME_PATTERN.test(name)) throw new TypeError(`${JSON.stringify(name)} is not a valid artifact name`);
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
  throw new ResponderError("artifacts_unwritable", `Cannot write artifacts to ${JSON.stringify(name)}: ${code ?? message}.`, {
    cause,
  });
}
