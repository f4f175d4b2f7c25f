import type { Dirent, Stats } from "node:fs";
import { lstat, opendir } from "node:fs/promises";
import path from "node:path";
import { type HeldDirectory, holdDirectory, nullIfAbsent } from "@hak2i/nofollow-fs";
import { pathLimits } from "../requests/workspace-path.ts";

/**
 * How much of a workspace one walk looks at, so that a million files neither hold up others nor fill the memory. The names of one
 * directory are sorted in one go: of 100,000 that takes long enough to be felt by every other request.
 */
export const walkLimits = { entries: 20_000, ms: 1000, directoryEntries: 25_000, ...pathLimits } as const;

/** A file of a workspace; `path` is relative to it, with slashes. */
export interface FoundFile {
  path: string;
  bytes: number;
  /** When content, name or mode last changed, in ms since the epoch: no program can set it, as it can the time of modification. */
  changedAt: number;
}

/** One stretch of a walk. */
export interface WalkedFiles {
  files: FoundFile[];
  /** Where the walk goes on; null at its end. Also set when there was more to look at than one walk does. */
  next: string | null;
  /** Something in this stretch could not be looked at, and no later one will show it. */
  truncated: boolean;
}

export interface WalkOptions {
  /** `next` of the stretch before. */
  after: string | null;
  limit: number;
  /** Names of directories that are left out. */
  skip: ReadonlySet<string>;
  wanted(file: FoundFile): boolean;
  limits?: { [Name in keyof typeof walkLimits]?: number };
}

/** Regular files beneath a directory, in the order of their names, directory by directory. Links are not followed and not shown. */
export async function walkFiles(root: HeldDirectory, { after, limit, skip, wanted, ...options }: WalkOptions): Promise<WalkedFiles> {
  const limits = { ...walkLimits, ...options.limits };
  const deadline = performance.now() + limits.ms;
  const files: FoundFile[] = [];
  let truncated = false;
  let steps = 0;
  // `a/b`: done with it and all beneath it. `a/`: about to look into it.
  let place = after;
  let isOver = false;

  /** Each step leads on, and one is always made: a walk that is taken up again and again comes to its end. */
  function mayStep(): boolean {
    isOver ||= steps > 0 && (steps >= limits.entries || performance.now() >= deadline);
    return !isOver;
  }

  function step(to: string): void {
    steps += 1;
    place = to;
  }

  async function visit(directory: HeldDirectory, prefix: string, from: readonly string[]): Promise<void> {
    for (const entry of await readEntries(directory)) {
      const [start, ...rest] = from;
      const isBefore = start !== undefined && (entry.name < start || (entry.name === start && rest.length === 0));
      if (isBefore) continue;
      if (!mayStep()) return;
      const name = prefix + entry.name;
      if (Buffer.byteLength(name) > limits.pathBytes) truncated = true;
      else if (entry.isDirectory() && !skip.has(entry.name)) await descend(directory, entry.name, name, entry.name === start ? rest : null);
      else if (entry.isFile()) await look(path.join(directory.path, entry.name), name);
      if (isOver) return;
      step(name);
    }
  }

  async function readEntries(directory: HeldDirectory): Promise<Dirent[]> {
    const entries: Dirent[] = [];
    let read = 0;
    const opened = await nullIfAbsent(opendir(directory.path, { bufferSize: 256 }));
    if (opened === null) truncated = true;
    else
      for await (const entry of opened) {
        read += 1;
        if (read > limits.directoryEntries) {
          truncated = true;
          break;
        }
        if (entry.isDirectory() || entry.isFile()) entries.push(entry);
      }
    return entries.sort((one, other) => (one.name < other.name ? -1 : 1));
  }

  async function descend(parent: HeldDirectory, entry: string, name: string, from: readonly string[] | null): Promise<void> {
    const directory = name.split("/").length < limits.depth ? holdDirectory(path.join(parent.path, entry)) : null;
    if (directory === null) {
      truncated = true;
      return;
    }
    if (from === null) step(`${name}/`);
    await visit(directory, `${name}/`, from ?? []).finally(directory.close);
  }

  async function look(file: string, name: string): Promise<void> {
    const stats = await nullIfAbsent(lstat(file));
    // A name that is no UTF-8 cannot be told, and so leads to nothing; any other is gone by now.
    if (stats === null) truncated ||= name.includes("\ufffd");
    else if (isPlainFile(stats)) take({ path: name, bytes: stats.size, changedAt: Math.floor(stats.ctimeMs) });
  }

  function take(file: FoundFile): void {
    if (!wanted(file)) return;
    if (files.length < limit) files.push(file);
    else isOver = true;
  }

  await visit(root, "", after?.split("/") ?? []);
  return { files, next: isOver ? place : null, truncated };
}

/** A file with one name: other names of it may lie outside of the workspace. */
const isPlainFile = (stats: Stats): boolean => stats.isFile() && stats.nlink === 1;
