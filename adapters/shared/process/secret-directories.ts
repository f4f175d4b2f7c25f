import { existsSync, lstatSync, readlinkSync } from "node:fs";
import path from "node:path";

/** The number of links that the kernel follows. */
const MAX_LINKS = 40;

/** A directory whose entries determine the file that the path of a secret leads to. */
export interface SecretDirectory {
  /** The path of the secret. */
  file: string;
  /** The directory, without links. It may not exist. */
  directory: string;
  /** The name of the file, or of a link to it, in this directory; null if the directory only contains a directory of the path. */
  name: string | null;
  /**
   * If a link points to an entry of this directory: the path of the file below that entry. Other versions of the entry
   * have the file at the same path.
   */
  pathBelow: string | null;
}

/**
 * Finds the directories of secrets at the start of a task. Earlier directories stay in the result, because they may
 * contain older versions.
 */
export function createSecretFinder(files: readonly string[]): () => SecretDirectory[] {
  const known = new Map<string, SecretDirectory>();
  return () => {
    const found = files.filter((file) => existsSync(file)).flatMap(findSecretDirectories);
    for (const entry of found) known.set(JSON.stringify(entry), entry);
    for (const [key, { directory }] of known) if (!existsSync(directory)) known.delete(key);
    return [...known.values()];
  };
}

/**
 * Finds the directories in which a replacement of a file can appear: those that contain the file or a link in its path, and those that
 * contain the target of such a link. The file need not exist, because it may be missing for a moment while it is being replaced.
 */
export function findSecretDirectories(file: string): SecretDirectory[] {
  const found: SecretDirectory[] = [];
  let directory = "/";
  let links = 0;
  const steps = parseSteps(file, { isFile: true, isLinked: false });
  for (let step = steps.shift(); step !== undefined; step = steps.shift()) {
    const pathname = path.join(directory, step.name);
    const target = links < MAX_LINKS ? readLinkTarget(pathname) : null;
    if (step.isFile) found.push({ file, directory, name: step.name, pathBelow: null });
    else if (step.isLinked) found.push({ file, directory, name: null, pathBelow: steps.map(({ name }) => name).join("/") });
    else if (target !== null) found.push({ file, directory, name: null, pathBelow: null });
    if (target === null) {
      directory = pathname;
      continue;
    }
    links += 1;
    if (path.isAbsolute(target)) directory = "/";
    steps.unshift(...parseSteps(target, { isFile: step.isFile, isLinked: true }));
  }
  return found;
}

/** One name in a path. */
interface Step {
  name: string;
  /** The last name of the secret's path. */
  isFile: boolean;
  /** The last name of the target of a link. */
  isLinked: boolean;
}

/** Splits a path into steps. `role` applies to the last one. */
function parseSteps(pathname: string, role: Omit<Step, "name">): Step[] {
  const names = pathname.split(path.sep).filter((name) => name !== "" && name !== ".");
  return names.map((name, index) => ({ name, ...(index === names.length - 1 ? role : { isFile: false, isLinked: false }) }));
}

/** Returns the target of a link; null if the path is not a link or does not exist. */
function readLinkTarget(pathname: string): string | null {
  try {
    return lstatSync(pathname).isSymbolicLink() ? readlinkSync(pathname) : null;
  } catch {
    return null;
  }
}
