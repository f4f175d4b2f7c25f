import { type Dirent, existsSync, readdirSync, readlinkSync, realpathSync, statSync } from "node:fs";
import path from "node:path";
import { type SecretDirectory, secretDirectories } from "./secret-directories.ts";

const SHARED_TMP = "/tmp";
/** Most entries that are mounted one by one. The time grows with the square of their number: 500 take 0.2 s of each start. */
const MAX_ENTRIES = 500;
/** Programs need it to trust a server. */
const CERTIFICATES = "/etc/ssl/certs";
/** The sandbox has its own instances. */
const REPLACED = ["/proc", "/dev"];

/** What a task may see. All paths are absolute. */
export interface View {
  /** Directories of which a task sees the writable ones alone. */
  hidden: readonly string[];
  /** Files whose content no task may see, also after they are replaced. */
  secrets: readonly string[];
  /** Places that programs are in; they stay visible. */
  programs: readonly string[];
  writable: readonly string[];
  /** Replaces /tmp, too. */
  tmp: string;
}

/** The arguments of bwrap that make a read-only root into this view; throws, with what to do, when a secret cannot be hidden. */
export function mountsOf(view: View): string[] {
  const masks = realPaths(view.hidden);
  const hidden = masks.filter((mask) => !masks.some((other) => other !== mask && isInside(other, mask)));
  const opened = unique(view.writable).flatMap((place) => namesOf(place, view.hidden));
  const programs = realPaths(view.programs);
  const kept = unique(programs.flatMap(topInSharedTmp));
  const plan = planSecrets(view.secrets, { covers: [...hidden, SHARED_TMP, ...REPLACED], opened, kept, programs });
  const empty = [...hidden, ...plan.emptied];
  const rebuilt = rebuild(plan.rebuilt);

  // The path of an outer place is the shorter one, so the inner one is mounted later. At the same place the last of these is mounted last.
  const layers = [
    // The task's own, instead of everybody's: what programs leave there goes with the task.
    { place: SHARED_TMP, mount: ["--bind", realpathSync(view.tmp), SHARED_TMP] },
    ...pinned([...empty, ...plan.rebuilt.keys()], { opened, rebuilt: [...plan.rebuilt.keys()] }).map((place) => ({
      place,
      mount: ["--bind", place, place],
    })),
    ...rebuilt,
    ...kept.map((place) => ({ place, mount: ["--ro-bind", place, place] })),
    ...opened.map((place) => ({ place, mount: ["--bind", realpathSync(place), place] })),
    ...empty.map((place) => ({ place, mount: ["--tmpfs", place] })),
  ].sort((a, b) => a.place.length - b.place.length);
  const madeAnew = [...empty, ...plan.rebuilt.keys()];
  return [...layers.flatMap(({ mount }) => mount), ...madeAnew.flatMap((place) => ["--remount-ro", place])];
}

interface SecretPlan {
  emptied: string[];
  /** Directories, and the secrets that are left out of them. */
  rebuilt: Map<string, SecretDirectory[]>;
}

/**
 * The kernel drops a mount over a file when the file is replaced by rename. So the directory is covered instead: it is empty where no
 * program needs anything in it, else it is rebuilt from the entries that are no secrets. A name that appears later is in neither.
 */
function planSecrets(
  secrets: readonly string[],
  { covers, opened, kept, programs }: { covers: readonly string[]; opened: readonly string[]; kept: readonly string[]; programs: readonly string[] },
): SecretPlan {
  const needed = [...opened, ...kept, ...programs, ...realPaths([CERTIFICATES])];
  const isVisible = ({ directory }: SecretDirectory): boolean => {
    const cover = innermost(covers, directory);
    return isDirectory(directory) && (cover === -1 || innermost([...opened, ...kept], directory) > cover);
  };
  const found = secrets.flatMap(secretDirectories).filter(isVisible);
  for (const { file, directory, name } of found) {
    const advice = "Move it to a directory of its own.";
    if (opened.includes(directory)) throw new Error(`${file} must stay hidden from tasks, but this task writes to ${directory}. ${advice}`);
    if (name !== null && directory === "/") throw new Error(`${file} cannot be hidden from tasks in the root directory. ${advice}`);
  }
  const isNeeded = (directory: string): boolean =>
    path.dirname(directory) === "/" || needed.some((place) => place === directory || isInside(directory, place));
  const emptied = unique(found.filter(({ directory, name }) => name !== null && !isNeeded(directory)).map(({ directory }) => directory));
  const outer = emptied.filter((place) => !emptied.some((other) => isInside(other, place)));
  const rest = found.filter(({ directory }) => directory !== "/" && !outer.some((place) => place === directory || isInside(place, directory)));
  return { emptied: outer, rebuilt: Map.groupBy(rest, ({ directory }) => directory) };
}

/** The entries of each directory, mounted one by one. */
function rebuild(directories: SecretPlan["rebuilt"]): { place: string; mount: string[] }[] {
  let left = MAX_ENTRIES;
  return [...directories].map(([directory, secrets]) => {
    const file = secrets[0]?.file;
    const entries = listEntries(directory, file).filter((entry) => !secrets.some(({ name }) => isCopyOf(name, entry)));
    left -= entries.length;
    if (left < 0) {
      const limit = `the ${MAX_ENTRIES} entries that a sandbox can mount one by one`;
      throw new Error(`${file} cannot be hidden from tasks: ${directory} exceeds ${limit}. Move the file to a directory of its own.`);
    }
    return { place: directory, mount: ["--tmpfs", directory, ...entries.flatMap((entry) => mountOf(path.join(directory, entry.name), entry))] };
  });
}

function listEntries(directory: string, file: string | undefined): Dirent[] {
  try {
    return readdirSync(directory, { withFileTypes: true });
  } catch (error) {
    const reason = (error as Error).message;
    throw new Error(`${file} cannot be hidden from tasks: ${directory} cannot be listed (${reason}). Move the file to a directory of its own.`);
  }
}

/** The secret itself, or what an editor or a database keeps beside it: `tokens.json~`, `.tokens.json.swp`, `bridge.db-wal`. */
const isCopyOf = (secret: string | null, entry: Dirent): boolean =>
  secret !== null && (entry.name === secret || (entry.isFile() && entry.name.includes(secret)));

function mountOf(place: string, entry: Dirent): string[] {
  try {
    if (entry.isSymbolicLink()) return ["--symlink", readlinkSync(place), place];
    statSync(place);
    return ["--ro-bind-try", place, place];
  } catch {
    // It has gone, or Bridge may not see it either.
    return [];
  }
}

/**
 * Directories between a writable place and a covered one inside of it. As mount points they cannot be renamed by the task, which could
 * otherwise put a directory of its own where Bridge expects one of Bridge's.
 */
function pinned(covered: readonly string[], { opened, rebuilt }: { opened: readonly string[]; rebuilt: readonly string[] }): string[] {
  const between = covered.flatMap((place) => ancestorsOf(place).filter((above) => opened.some((writable) => isInside(writable, above))));
  return unique(between).filter((place) => !covered.includes(place) && innermost(opened, place) > innermost(rebuilt, place));
}

function ancestorsOf(place: string): string[] {
  const above = path.dirname(place);
  return above === place ? [] : [...ancestorsOf(above), above];
}

/** Where a directory really lies, and where Bridge has it: links to it are hidden with the directory in which they stand. */
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
const isInside = (outer: string, inner: string): boolean => inner !== outer && inner.startsWith(outer.endsWith(path.sep) ? outer : outer + path.sep);
