import { readdir, rm, stat } from "node:fs/promises";
import path from "node:path";
import { nullIfAbsent, removeInside } from "@hak2i/nofollow-fs";
import type { Logger } from "pino";
import type { Mirrors } from "./mirrors.ts";
import { DRAFT_PREFIX, type RepositoryPaths } from "./paths.ts";
import type { SweepCallbacks } from "./repository.ts";
import type { TenantCommits } from "./tenant-commits.ts";
import { readRecord } from "./tree-record.ts";
import { REMOVED_PREFIX } from "./tree-removal.ts";
import type { Trees } from "./trees.ts";

/** Another node can be busy with what this one does not know, if they share files. */
const SHARED_AGE_MS = 86_400_000;

/** Options of `createSweep`. */
export interface SweepOptions {
  paths: RepositoryPaths;
  trees: Trees;
  mirrors: Mirrors;
  commits: TenantCommits;
  /** Whether other nodes use the same files. */
  sharedFiles: boolean;
  /** Ends the sweep. */
  closing: AbortSignal;
  logger: Logger;
}

/** Creates the functions that remove what earlier processes left. They store the changes of a task before they remove its tree. */
export function createSweep({ paths, trees, mirrors, commits, sharedFiles, closing, logger }: SweepOptions) {
  let sweeping = Promise.resolve();

  async function isStale(file: string): Promise<boolean> {
    if (!sharedFiles) return true;
    const found = await nullIfAbsent(stat(file));
    return found !== null && Date.now() - found.mtimeMs > SHARED_AGE_MS;
  }

  async function sweepTree(name: string, { stateOf, onEnded }: SweepCallbacks): Promise<void> {
    const directory = path.join(paths.trees, name);
    if (name.startsWith(DRAFT_PREFIX) || name.startsWith(REMOVED_PREFIX)) {
      if (!trees.isInUse(name) && (await isStale(directory))) await removeInside(paths.trees, name);
      return;
    }
    const record = await readRecord(directory);
    if (record === null) return await trees.removeIncomplete(name);
    const state = await stateOf(record);
    if (state === "open") return;
    await trees.endLeftover(name, record, state === "unknown" ? null : (outcome) => onEnded(record, outcome), closing);
  }

  /** Removes files of git processes that a crash has ended. At the start of a node that owns its files, no such process runs. */
  async function removeLocks(name: string): Promise<void> {
    const directory = paths.repository(name);
    const entries = (await nullIfAbsent(readdir(directory, { recursive: true, withFileTypes: true }))) ?? [];
    for (const { name: entry, parentPath } of entries) {
      const isLeftover = entry.endsWith(".lock") || /^tmp_(obj|pack|idx|rev|objdir)/.test(entry);
      if (isLeftover || entry.startsWith(DRAFT_PREFIX)) await rm(path.join(parentPath, entry), { recursive: true, force: true });
    }
  }

  async function attempt(what: string, act: () => Promise<void>): Promise<void> {
    if (closing.aborted) return;
    await act().catch((error: unknown) => {
      if (!closing.aborted) logger.error({ err: error, name: what }, "failed to sweep repositories and work trees");
    });
  }

  const listRepositories = async (): Promise<string[]> => (await nullIfAbsent(readdir(paths.repositories))) ?? [];

  async function sweep(known: SweepCallbacks): Promise<void> {
    for (const name of (await nullIfAbsent(readdir(paths.trees))) ?? []) await attempt(name, () => sweepTree(name, known));
    await trees.settle();
    for (const name of await listRepositories()) {
      await attempt(name, () => mirrors.joinPacks(name));
      await attempt(name, () => commits.removeUnknown(name, known.stateOf, closing));
    }
  }

  return {
    async prepare(): Promise<void> {
      if (!sharedFiles) for (const name of await listRepositories()) await attempt(name, () => removeLocks(name));
    },
    sweep(known: SweepCallbacks): Promise<void> {
      sweeping = sweep(known);
      return sweeping;
    },
    /** Resolves when the last sweep has ended. */
    settle: (): Promise<void> => sweeping,
  };
}
