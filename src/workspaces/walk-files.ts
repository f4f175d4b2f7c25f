import type { Dirent, Stats } from "node:fs";
import { lstat, opendir } from "node:fs/promises";
import path from "node:path";
import { type HeldDirectory, holdDirectory, nullIfAbsent } from "@hak2i/nofollow-fs";
import { pathLimits } from "../requests/workspace-path.ts";

/**
 * Limits of one walk, so that a million files neither delay other requests nor exhaust the memory. The names of a directory are sorted at
 * once, and sorting 100,000 of them would block the event loop noticeably.
 */
export const walkLimits = { entries: 20_000, ms: 1000, directoryEntries: 25_000, ...pathLimits } as const;

/** A file of a workspace. `path` is relative to the workspace, with slashes. */
export interface FoundFile {
  path: string;
  bytes: number;
  /** Time of the last change of content, name or mode, in ms since the epoch. Programs cannot set it, unlike the modification time. */
  changedAt: number;
}

/** One page of a walk. */
export interface WalkedFiles {
  files: FoundFile[];
  /** The position of the next page; null at the end. A page also ends when the walk reaches one of its limits. */
  next: string | null;
  /** An entry of this page could not be read, and no later page contains it. */
  truncated: boolean;
}

export interface WalkOptions {
  /** `next` of the previous page. */
  after: string | null;
  limit: number;
  /** Names of directories to skip. */
  skip: ReadonlySet<string>;
  isWanted(file: FoundFile): boolean;
  limits?: { [Name in keyof typeof walkLimits]?: number };
}

/**
 * Lists the regular files below a directory, in the order of their names, directory by directory. Links are neither followed nor listed.
 */
export async function walkFiles(root: HeldDirectory, { after, limit, skip, isWanted, ...options }: WalkOptions): Promise<WalkedFiles> {
  const limits = { ...walkLimits, ...options.limits };
  const deadline = performance.now() + limits.ms;
  const files: FoundFile[] = [];
  let truncated = false;
  let steps = 0;
  // `a/b`: the entry and everything below it are done. `a/`: the directory is next.
  let position = after;
  let isPageFull = false;

  /** At least one step is always allowed, so that a walk over many pages reaches its end. */
  function canStep(): boolean {
    isPageFull ||= steps > 0 && (steps >= limits.entries || performance.now() >= deadline);
    return !isPageFull;
  }

  function step(to: string): void {
    steps += 1;
    position = to;
  }

  async function visit(directory: HeldDirectory, prefix: string, from: readonly string[]): Promise<void> {
    for (const entry of await readEntries(directory)) {
      const [start, ...rest] = from;
      const isBefore = start !== undefined && (entry.name < start || (entry.name === start && rest.length === 0));
      if (isBefore) continue;
      if (!canStep()) return;
      const name = prefix + entry.name;
      if (Buffer.byteLength(name) > limits.pathBytes) truncated = true;
      else if (entry.isDirectory() && !skip.has(entry.name)) await descend(directory, entry.name, name, entry.name === start ? rest : null);
      else if (entry.isFile()) await examineFile(path.join(directory.path, entry.name), name);
      if (isPageFull) return;
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

  async function examineFile(file: string, name: string): Promise<void> {
    const stats = await nullIfAbsent(lstat(file));
    // Names that are not UTF-8 cannot be opened by their decoded form. Other files have been deleted in the meantime.
    if (stats === null) truncated ||= name.includes("\ufffd");
    else if (isPlainFile(stats)) collect({ path: name, bytes: stats.size, changedAt: Math.floor(stats.ctimeMs) });
  }

  function collect(file: FoundFile): void {
    if (!isWanted(file)) return;
    if (files.length < limit) files.push(file);
    else isPageFull = true;
  }

  await visit(root, "", after?.split("/") ?? []);
  return { files, next: isPageFull ? position : null, truncated };
}

/** A regular file with one hard link, because further links may be outside the workspace. */
const isPlainFile = (stats: Stats): boolean => stats.isFile() && stats.nlink === 1;
