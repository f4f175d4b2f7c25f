import { type Dirent, existsSync, readdirSync, readlinkSync, realpathSync, statSync } from "node:fs";
import path from "node:path";
import type { SecretDirectory } from "./secret-directories.ts";

const SHARED_TMP = "/tmp";
/** Maximum number of entries that are mounted one by one. The time grows with the square of the number: 500 add 0.2 s to each start. */
const MAX_ENTRIES = 500;
/** Programs need the certificates to verify servers. */
const CERTIFICATES = "/etc/ssl/certs";
/** Directories that a sandbox replaces by its own. */
const REPLACED = ["/proc", "/dev"];
const ADVICE = "Move the file to a separate directory.";

/** The file system that a task sees. All paths are absolute. */
export interface View {
  /** Directories in which a task sees only the writable ones. */
  hidden: readonly string[];
  /** Directories of files whose content no task may see, even after the files are replaced. */
  secrets: readonly SecretDirectory[];
  /** Paths of programs, which stay visible. */
  programs: readonly string[];
  writable: readonly string[];
  /** Directories that a task may read although they are below hidden ones. */
  readable: readonly string[];
  /** Replaces /tmp, too. */
  tmp: string;
}

/** Returns the arguments of bwrap that mount this view over a read-only root. Throws with advice if a secret cannot be hidden. */
export function createMountArguments(view: View): string[] {
  const masks = resolveRealPaths(view.hidden);
  const hidden = masks.filter((mask) => !masks.some((other) => other !== mask && isInside(other, mask)));
  const writable = removeDuplicates(view.writable).flatMap((directory) => listPathsOf(directory, view.hidden));
  const readable = removeDuplicates(view.readable).flatMap((directory) => listPathsOf(directory, view.hidden));
  const programs = resolveRealPaths(view.programs);
  const tmpEntries = removeDuplicates(programs.flatMap(findTmpEntry));
  const needed = [...writable, ...readable, ...tmpEntries, ...programs, ...resolveRealPaths([CERTIFICATES])];
  const isNeeded = (directory: string): boolean => needed.some((pathname) => pathname === directory || isInside(directory, pathname));
  const covers = [...hidden, SHARED_TMP, ...REPLACED];
  const visible = view.secrets.filter(({ directory }) =>
    isVisible(directory, { covers, uncovered: [...writable, ...readable, ...tmpEntries] }),
  );
  rejectUnhideable(visible, writable);
  const emptied = planEmptied(visible, isNeeded);
  const empty = [...hidden, ...emptied];
  const remaining = visible.filter(
    ({ directory }) => directory !== "/" && !emptied.some((outer) => outer === directory || isInside(outer, directory)),
  );
  const rebuilt = Map.groupBy(remaining, ({ directory }) => directory);
  const replaced = [...empty, ...rebuilt.keys()];
  const pinned = findPinnedDirectories(replaced, { writable, rebuilt: [...rebuilt.keys()] });

  // Sorted by length, so a directory is mounted before the directories inside it. At the same mount point, a later entry of the list is
  // mounted later and hides the earlier ones.
  const mounts: Mount[] = [
    // The task's own directory instead of the shared one, so that it is removed with the task.
    { mountPoint: SHARED_TMP, options: ["--bind", realpathSync(view.tmp), SHARED_TMP] },
    ...pinned.map((directory) => ({ mountPoint: directory, options: ["--bind", directory, directory] })),
    ...tmpEntries.map((entry) => ({ mountPoint: entry, options: ["--ro-bind", entry, entry] })),
    ...rebuild(rebuilt, isNeeded),
    ...readable.map((directory) => ({ mountPoint: directory, options: ["--ro-bind", realpathSync(directory), directory] })),
    ...writable.map((directory) => ({ mountPoint: directory, options: ["--bind", realpathSync(directory), directory] })),
    ...empty.map((directory) => ({ mountPoint: directory, options: ["--tmpfs", directory] })),
  ].sort((a, b) => a.mountPoint.length - b.mountPoint.length);
  return [...mounts.flatMap(({ options }) => options), ...replaced.flatMap((directory) => ["--remount-ro", directory])];
}

/** Options of bwrap that mount something at this path. */
interface Mount {
  mountPoint: string;
  options: string[];
}

/** Returns whether a task would see the directory. The innermost covered or uncovered directory that contains it decides. */
function isVisible(directory: string, { covers, uncovered }: { covers: readonly string[]; uncovered: readonly string[] }): boolean {
  const cover = innermostLength(covers, directory);
  return isDirectory(directory) && (cover === -1 || innermostLength(uncovered, directory) > cover);
}

/** Throws with advice if a secret cannot be hidden. */
function rejectUnhideable(secrets: readonly SecretDirectory[], writable: readonly string[]): void {
  for (const { file, directory, name } of secrets) {
    if (writable.includes(directory))
      throw new Error(`${file} must stay hidden from tasks, but this task writes to ${directory}. ${ADVICE}`);
    if (name !== null && directory === "/") throw new Error(`${file} cannot be hidden from tasks in the root directory. ${ADVICE}`);
  }
}

/**
 * Returns the directories of secrets that are empty for a task. The directory is covered instead of the file, because the kernel drops a
 * mount over a file when the file is replaced by rename. A directory that programs need is not emptied, but rebuilt from its other
 * entries. Entries that are created later appear in neither.
 */
function planEmptied(secrets: readonly SecretDirectory[], isNeeded: (directory: string) => boolean): string[] {
  const own = secrets.filter(({ directory, name }) => name !== null && path.dirname(directory) !== "/" && !isNeeded(directory));
  const directories = removeDuplicates(own.map(({ directory }) => directory));
  return directories.filter((directory) => !directories.some((other) => isInside(other, directory)));
}

/** Mounts the entries of each directory one by one, without the secrets. */
function rebuild(directories: Map<string, SecretDirectory[]>, isNeeded: (directory: string) => boolean): Mount[] {
  let remaining = MAX_ENTRIES;
  return [...directories].map(([directory, secrets]) => {
    const file = secrets[0]?.file;
    const isSecret = (entry: Dirent) =>
      secrets.some((secret) => isCopyOf(secret, entry) || (isVersionOf(secret, entry) && !isNeeded(path.join(directory, entry.name))));
    const entries = listEntries(directory, file).filter((entry) => !isSecret(entry));
    remaining -= entries.length;
    if (remaining < 0) {
      const limit = `the ${MAX_ENTRIES} entries that a sandbox can mount one by one`;
      throw new Error(`${file} cannot be hidden from tasks: ${directory} exceeds ${limit}. ${ADVICE}`);
    }
    return {
      mountPoint: directory,
      options: ["--tmpfs", directory, ...entries.flatMap((entry) => createEntryMount(path.join(directory, entry.name), entry))],
    };
  });
}

function listEntries(directory: string, file: string | undefined): Dirent[] {
  try {
    return readdirSync(directory, { withFileTypes: true });
  } catch (error) {
    const reason = (error as Error).message;
    throw new Error(`${file} cannot be hidden from tasks: ${directory} cannot be listed (${reason}). ${ADVICE}`);
  }
}

/**
 * Returns true for the secret, and for the files that editors and databases create next to it: `tokens.json~`,
 * `.tokens.json.swp`, `bridge.db-wal`.
 */
const isCopyOf = ({ name }: SecretDirectory, entry: Dirent): boolean =>
  name !== null && (entry.name === name || (entry.isFile() && entry.name.includes(name)));

/** Returns true for another version of a directory that a link points to. */
const isVersionOf = ({ directory, pathBelow }: SecretDirectory, entry: Dirent): boolean =>
  pathBelow !== null && entry.isDirectory() && existsSync(path.join(directory, entry.name, pathBelow));

function createEntryMount(pathname: string, entry: Dirent): string[] {
  try {
    if (entry.isSymbolicLink()) return ["--symlink", readlinkSync(pathname), pathname];
    statSync(pathname);
    return ["--ro-bind-try", pathname, pathname];
  } catch {
    // The entry was removed, or Bridge cannot read it either.
    return [];
  }
}

/**
 * Finds the directories between a writable directory and a covered directory inside it. They become mount points, which a task cannot
 * rename. Otherwise it could put its own directory at a path that Bridge uses.
 */
function findPinnedDirectories(
  covered: readonly string[],
  { writable, rebuilt }: { writable: readonly string[]; rebuilt: readonly string[] },
): string[] {
  const between = covered.flatMap((directory) =>
    ancestorsOf(directory).filter((ancestor) => writable.some((outer) => isInside(outer, ancestor))),
  );
  return removeDuplicates(between).filter(
    (directory) => !covered.includes(directory) && innermostLength(writable, directory) > innermostLength(rebuilt, directory),
  );
}

function ancestorsOf(directory: string): string[] {
  const parent = path.dirname(directory);
  return parent === directory ? [] : [...ancestorsOf(parent), parent];
}

/**
 * Returns the real path of a writable directory and the path by which Bridge uses it. The second one is needed inside a hidden directory,
 * because the links in it are hidden, too.
 */
const listPathsOf = (directory: string, hidden: readonly string[]): string[] =>
  removeDuplicates([
    realpathSync(directory),
    ...hidden.filter((mask) => isInside(mask, directory)).map((mask) => realpathSync(mask) + directory.slice(mask.length)),
  ]);

/** Returns the entry of the shared temporary directory that contains a program. Tasks see the entry at the same path. */
function findTmpEntry(program: string): string[] {
  const [name] = path.relative(SHARED_TMP, program).split(path.sep);
  return name === undefined || name === "" || name === ".." ? [] : [path.join(SHARED_TMP, name)];
}

/** Returns the length of the innermost of these paths that contains the directory or is equal to it; -1 if there is none. */
const innermostLength = (paths: readonly string[], directory: string): number =>
  Math.max(-1, ...paths.filter((outer) => outer === directory || isInside(outer, directory)).map((outer) => outer.length));

const resolveRealPaths = (paths: readonly string[]): string[] =>
  removeDuplicates(paths.filter((pathname) => existsSync(pathname)).map((pathname) => realpathSync(pathname)));
const isDirectory = (pathname: string): boolean => statSync(pathname, { throwIfNoEntry: false })?.isDirectory() === true;
const removeDuplicates = (paths: readonly string[]): string[] => [...new Set(paths)];
const isInside = (outer: string, inner: string): boolean =>
  inner !== outer && inner.startsWith(outer.endsWith(path.sep) ? outer : outer + path.sep);
