import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { readdir, rename, stat, writeFile } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { createTurns } from "@hak2i/async-kit";
import { makePrivateDirectory, nullIfAbsent, removeInside } from "@hak2i/nofollow-fs";
import type { DiskLimit } from "./disk-limit.ts";
import { GitFault, type HostGit } from "./host-git.ts";
import { DRAFT_PREFIX, type RepositoryPaths } from "./paths.ts";
import { protocolOf } from "./repositories-file.ts";
import type { Repository } from "./repository.ts";

/** A large repository over a slow connection takes long. Tasks that wait have their own limits. */
const TRANSFER_MS = 3_600_000;
/** Two nodes that share files can fetch at the same time. Then one of them finds the references locked. */
const MAX_TRIES = 5;
/** Each fetch adds a pack, and git searches all of them. */
const MAX_PACKS = 50;
/** Its time of change is the time of the last fetch. */
const FETCHED_FILE = "fetched";
const BRANCHES_AND_TAGS = ["+refs/heads/*:refs/heads/*", "+refs/tags/*:refs/tags/*"];

export type Mirrors = ReturnType<typeof createMirrors>;

/** Creates the access to the mirrors of the sources. */
export function createMirrors({ paths, git, disk }: { paths: RepositoryPaths; git: HostGit; disk: DiskLimit }) {
  const turns = createTurns();
  const closing = new AbortController();
  /** Fetches that have not begun. */
  const waiting = new Map<string, Promise<void>>();

  async function clone(repository: Repository): Promise<void> {
    const mirror = paths.mirror(repository.name);
    const directory = paths.repository(repository.name);
    makePrivateDirectory(directory);
    const localPath = localPathOf(repository.source);
    if (disk.isSet && localPath !== null) await disk.reserve(await disk.measure([localPath]), `A clone of ${repository.name}`);
    const draft = `${DRAFT_PREFIX}${randomUUID()}.git`;
    // Without --no-local, git would link or borrow the files of the source, which the sandbox hides.
    const options = ["--bare", "--no-local", "--template=", "--reject-shallow", "--quiet", "--no-recurse-submodules"];
    try {
      const argv = ["clone", ...options, "--", repository.source, path.join(directory, draft)];
      await disk.watch(path.join(directory, draft), closing.signal, (signal) =>
        git.source(null, repository, argv, { signal, ms: TRANSFER_MS }),
      );
      // Its URL can contain credentials.
      await git.store(path.join(directory, draft), ["config", "--remove-section", "remote.origin"]);
      await rename(path.join(directory, draft), mirror).catch((error: unknown) => {
        // Another node was faster.
        if (!existsSync(mirror)) throw error;
      });
    } finally {
      await removeInside(directory, draft);
    }
  }

  async function fetchOnce(repository: Repository): Promise<void> {
    const options = ["--prune", "--no-tags", "--no-write-fetch-head", "--no-auto-maintenance", "--no-recurse-submodules", "--quiet"];
    const argv = ["fetch", ...options, "--", repository.source, ...BRANCHES_AND_TAGS];
    const mirror = paths.mirror(repository.name);
    for (let tries = 1; ; tries += 1) {
      try {
        await disk.watch(mirror, closing.signal, (signal) => git.source(mirror, repository, argv, { signal, ms: TRANSFER_MS }));
        return;
      } catch (error) {
        if (!(error instanceof GitFault) || tries === MAX_TRIES || !/cannot lock ref|\.lock'?: File exists/.test(error.message))
          throw error;
      }
    }
  }

  async function update(repository: Repository): Promise<void> {
    if (existsSync(paths.mirror(repository.name))) await fetchOnce(repository);
    else await clone(repository);
    await writeFile(path.join(paths.repository(repository.name), FETCHED_FILE), "");
  }

  return {
    /**
     * Clones or fetches a source. Resolves after a fetch that began after this call, which all callers share that wait for it. Throws
     * GitFault, or BridgeError: overloaded, if there is not enough space.
     */
    fetch(repository: Repository): Promise<void> {
      const { name } = repository;
      const shared = waiting.get(name);
      if (shared !== undefined) return shared;
      const next = turns.take(name, () => {
        waiting.delete(name);
        return update(repository);
      });
      waiting.set(name, next);
      // A caller may stop waiting for it.
      next.catch(() => {});
      return next;
    },
    /** When the source was fetched last, in ms since the epoch; null if it was not. */
    async lastFetchAt(name: string): Promise<number | null> {
      const found = await nullIfAbsent(stat(path.join(paths.repository(name), FETCHED_FILE)));
      return found === null ? null : Math.floor(found.mtimeMs);
    },
    /** Joins the packs of many fetches. Removes no object, because trees and tenants borrow all of them. */
    async joinPacks(name: string): Promise<void> {
      const mirror = paths.mirror(name);
      const names = (await nullIfAbsent(readdir(path.join(mirror, "objects/pack")))) ?? [];
      if (names.filter((entry) => entry.endsWith(".pack")).length <= MAX_PACKS) return;
      const repack = () => git.store(mirror, ["repack", "-a", "-d", "-k", "-q"], { signal: closing.signal, ms: TRANSFER_MS });
      await turns.take(name, repack, closing.signal);
    },
    close: (): void => closing.abort(new GitFault("Bridge is shutting down.", null)),
  };
}

/** Returns the directory of a local source; null for one on another host. */
function localPathOf(source: string): string | null {
  if (protocolOf(source) !== "file") return null;
  try {
    return path.isAbsolute(source) ? source : fileURLToPath(source);
  } catch {
    return null;
  }
}
