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
  beneath: string | null;
}

/**
 * Finds the directories of secrets at the start of a task. Earlier directories stay in the result, because they may
 * contain older versions.
 */
export function createSecretFinder(files: readonly string[]): () => SecretDirectory[] {
  const known = new Map<string, SecretDirectory>();
  return () => {
    const found = files.filter((file) => existsSync(file)).flatMap(secretDirectories);
    for (const one of found) known.set(JSON.stringify(one), one);
    for (const [key, { directory }] of known) if (!existsSync(directory)) known.delete(key);
    return [...known.values()];
  };
}

/**
 * Finds the directories in which a replacement of a file can appear: those that contain the file or a link in its path, and those that
 * contain the target of such a link. The file need not exist, because it may be missing for a moment while it is being replaced.
 */
export function secretDirectories(file: string): SecretDirectory[] {
  const found: SecretDirectory[] = [];
  let directory = "/";
  let links = 0;
  const steps = stepsOf(file, { isFile: true, isLinked: false });
  for (let step = steps.shift(); step !== undefined; step = steps.shift()) {
    const pathname = path.join(directory, step.name);
    const target = links < MAX_LINKS ? linkTarget(pathname) : null;
    if (step.isFile) found.push({ file, directory, name: step.name, beneath: null });
    else if (step.isLinked) found.push({ file, directory, name: null, beneath: steps.map(({ name }) => name).join("/") });
    else if (target !== null) found.push({ file, directory, name: null, beneath: null });
    if (target === null) {
      directory = pathname;
      continue;
    }
    links += 1;
    if (path.isAbsolute(target)) directory = "/";
    steps.unshift(...stepsOf(target, { isFile: step.isFile, isLinked: true }));
  }
  return found;
}

interface Step {
  name: string;
  isFile: boolean;
  isLinked: boolean;
}

/** The names of a path. `role` applies to the last one. */
function stepsOf(pathname: string, role: Omit<Step, "name">): Step[] {
  const names = pathname.split(path.sep).filter((name) => name !== "" && name !== ".");
  return names.map((name, index) => ({ name, ...(index === names.length - 1 ? role : { isFile: false, isLinked: false }) }));
}

/** Null when the path is not a link or does not exist. */
function linkTarget(pathname: string): string | null {
  try {
    return lstatSync(pathname).isSymbolicLink() ? readlinkSync(pathname) : null;
  } catch {
    return null;
  }
}
