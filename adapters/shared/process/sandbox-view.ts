import { type Dirent, existsSync, readdirSync, readlinkSync, realpathSync, statSync } from "node:fs";
import path from "node:path";
import type { SecretDirectory } from "./secret-directories.ts";

const SHARED_TMP = "/tmp";
/** Maximum number of entries that are mounted one by one. The time grows with the square of the number: 500 add 0.2 s to each start. */
const MAX_ENTRIES = 500;
/** Programs need the certificates to verify servers. */
const CERTIFICATES = "/etc/ssl/certs";
/** Directories of which the sandbox has its own instance. */
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
  /** Replaces /tmp, too. */
  tmp: string;
}

/** The arguments of bwrap that mount this view over a read-only root. Throws with advice if a secret cannot be hidden. */
export function mountsOf(view: View): string[] {
  const masks = realPaths(view.hidden);
  const hidden = masks.filter((mask) => !masks.some((other) => other !== mask && isInside(other, mask)));
  const opened = unique(view.writable).flatMap((place) => namesOf(place, view.hidden));
  const programs = realPaths(view.programs);
  const kept = unique(programs.flatMap(topInSharedTmp));
  const needed = [...opened, ...kept, ...programs, ...realPaths([CERTIFICATES])];
  const isNeeded = (directory: string): boolean => needed.some((place) => place === directory || isInside(directory, place));
  const covers = [...hidden, SHARED_TMP, ...REPLACED];
  const visible = view.secrets.filter(({ directory }) => isVisible(directory, { covers, uncovered: [...opened, ...kept] }));
  rejectUnhideable(visible, opened);
  const emptied = planEmptied(visible, isNeeded);
  const empty = [...hidden, ...emptied];
  const rest = visible.filter(
    ({ directory }) => directory !== "/" && !emptied.some((place) => place === directory || isInside(place, directory)),
  );
  const rebuilt = Map.groupBy(rest, ({ directory }) => directory);
  const replaced = [...empty, ...rebuilt.keys()];

  // The path of an outer place is the shorter one, so the inner one is mounted later. At the same place the last of these is mounted last.
  const layers = [
    // The task's own directory instead of the shared one, so that it is removed with the task.
    { place: SHARED_TMP, mount: ["--bind", realpathSync(view.tmp), SHARED_TMP] },
    ...pinned(replaced, { opened, rebuilt: [...rebuilt.keys()] }).map((place) => ({ place, mount: ["--bind", place, place] })),
    ...kept.map((place) => ({ place, mount: ["--ro-bind", place, place] })),
    ...rebuild(rebuilt, isNeeded),
    ...opened.map((place) => ({ place, mount: ["--bind", realpathSync(place), place] })),
    ...empty.map((place) => ({ place, mount: ["--tmpfs", place] })),
  ].sort((a, b) => a.place.length - b.place.length);
  return [...layers.flatMap(({ mount }) => mount), ...replaced.flatMap((place) => ["--remount-ro", place])];
}

/** True if a task would see the directory. The innermost of the paths around it decides. */
function isVisible(directory: string, { covers, uncovered }: { covers: readonly string[]; uncovered: readonly string[] }): boolean {
  const cover = innermost(covers, directory);
  return isDirectory(directory) && (cover === -1 || innermost(uncovered, directory) > cover);
}

function rejectUnhideable(secrets: readonly SecretDirectory[], opened: readonly string[]): void {
  for (const { file, directory, name } of secrets) {
    if (opened.includes(directory)) throw new Error(`${file} must stay hidden from tasks, but this task writes to ${directory}. ${ADVICE}`);
    if (name !== null && directory === "/") throw new Error(`${file} cannot be hidden from tasks in the root directory. ${ADVICE}`);
  }
}

/**
 * The directories of secrets that are empty for a task. The kernel drops a mount over a file when the file is replaced by rename, so the
 * directory is covered. A directory that programs need is rebuilt from its other entries instead. Names that appear later are in neither.
 */
function planEmptied(secrets: readonly SecretDirectory[], isNeeded: (directory: string) => boolean): string[] {
  const own = secrets.filter(({ directory, name }) => name !== null && path.dirname(directory) !== "/" && !isNeeded(directory));
  const places = unique(own.map(({ directory }) => directory));
  return places.filter((place) => !places.some((other) => isInside(other, place)));
}

/** Mounts the entries of each directory one by one, without the secrets. */
function rebuild(
  directories: Map<string, SecretDirectory[]>,
  isNeeded: (directory: string) => boolean,
): { place: string; mount: string[] }[] {
  let left = MAX_ENTRIES;
  return [...directories].map(([directory, secrets]) => {
    const file = secrets[0]?.file;
    const isSecret = (entry: Dirent) =>
      secrets.some((secret) => isCopyOf(secret, entry) || (isVersionOf(secret, entry) && !isNeeded(path.join(directory, entry.name))));
    const entries = listEntries(directory, file).filter((entry) => !isSecret(entry));
    left -= entries.length;
    if (left < 0) {
      const limit = `the ${MAX_ENTRIES} entries that a sandbox can mount one by one`;
      throw new Error(`${file} cannot be hidden from tasks: ${directory} exceeds ${limit}. ${ADVICE}`);
    }
    return {
      place: directory,
      mount: ["--tmpfs", directory, ...entries.flatMap((entry) => mountOf(path.join(directory, entry.name), entry))],
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
 * True for the secret, and for the files that editors and databases create next to it: `tokens.json~`,
 * `.tokens.json.swp`, `bridge.db-wal`.
 */
const isCopyOf = ({ name }: SecretDirectory, entry: Dirent): boolean =>
  name !== null && (entry.name === name || (entry.isFile() && entry.name.includes(name)));

/** True for another version of a directory that a link points to. */
const isVersionOf = ({ directory, beneath }: SecretDirectory, entry: Dirent): boolean =>
  beneath !== null && entry.isDirectory() && existsSync(path.join(directory, entry.name, beneath));

function mountOf(place: string, entry: Dirent): string[] {
  try {
    if (entry.isSymbolicLink()) return ["--symlink", readlinkSync(place), place];
    statSync(place);
    return ["--ro-bind-try", place, place];
  } catch {
    // It was removed, or Bridge cannot read it either.
    return [];
  }
}

/**
 * Directories between a writable place and a covered one inside of it. As mount points they cannot be renamed by the task, which could
 * otherwise put its own directory at a path that Bridge uses.
 */
function pinned(covered: readonly string[], { opened, rebuilt }: { opened: readonly string[]; rebuilt: readonly string[] }): string[] {
  const between = covered.flatMap((place) => ancestorsOf(place).filter((above) => opened.some((writable) => isInside(writable, above))));
  return unique(between).filter((place) => !covered.includes(place) && innermost(opened, place) > innermost(rebuilt, place));
}

function ancestorsOf(place: string): string[] {
  const above = path.dirname(place);
  return above === place ? [] : [...ancestorsOf(above), above];
}

/** The real path of a directory and the path that Bridge uses. Links to it are hidden with the directory that contains them. */
const namesOf = (place: string, hidden: readonly string[]): string[] =>
  unique([
    realpathSync(place),
    ...hidden.filter((mask) => isInside(mask, place)).map((mask) => realpathSync(mask) + place.slice(mask.length)),
  ]);

/** Programs that are installed in the shared temporary directory stay there for the tasks. */
function topInSharedTmp(place: string): string[] {
  const [top] = path.relative(SHARED_TMP, place).split(path.sep);
  return top === undefined || top === "" || top === ".." ? [] : [path.join(SHARED_TMP, top)];
}

/** The length of the innermost of these places around a directory; -1 for none. */
const innermost = (places: readonly string[], directory: string): number =>
  Math.max(-1, ...places.filter((place) => place === directory || isInside(place, directory)).map((place) => place.length));

const realPaths = (places: readonly string[]): string[] =>
  unique(places.filter((place) => existsSync(place)).map((place) => realpathSync(place)));
const isDirectory = (place: string): boolean => statSync(place, { throwIfNoEntry: false })?.isDirectory() === true;
const unique = (places: readonly string[]): string[] => [...new Set(places)];
const isInside = (outer: string, inner: string): boolean =>
  inner !== outer && inner.startsWith(outer.endsWith(path.sep) ? outer : outer + path.sep);
