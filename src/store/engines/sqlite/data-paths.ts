import { readlinkSync, realpathSync } from "node:fs";
import path from "node:path";
import { makePrivateDirectory } from "@hak2i/nofollow-fs";
import { StartError } from "../../../errors.ts";

/** Maximum number of symbolic links to follow, as in Linux. */
const MAX_LINKS = 40;
/** Maximum characters of a path in an error message. */
const MAX_SHOWN = 300;

/** Creates the directory that a setting names. Throws StartError with the reason if it cannot. */
export function createDataDirectory(setting: string, directory: string): void {
  try {
    makePrivateDirectory(directory);
  } catch (error) {
    throw unusable(setting, directory, error);
  }
}

/** Returns the path of the database file with all links resolved; the file may not exist yet. Creates its directory. */
export function locateDatabase(file: string): string {
  const setting = "BRIDGE_DATABASE_URL";
  createDataDirectory(setting, path.dirname(file));
  try {
    return followLinks(file);
  } catch (error) {
    throw unusable(setting, file, error);
  }
}

function followLinks(file: string, links = 0): string {
  const resolved = path.join(realpathSync(path.dirname(file)), path.basename(file));
  const target = readLink(resolved);
  if (target === null) return resolved;
  if (links === MAX_LINKS) throw Object.assign(new Error("too many links"), { code: "ELOOP" });
  return followLinks(path.resolve(path.dirname(resolved), target), links + 1);
}

function readLink(file: string): string | null {
  try {
    return readlinkSync(file);
  } catch (error) {
    if (["EINVAL", "ENOENT"].includes((error as NodeJS.ErrnoException).code ?? "")) return null;
    throw error;
  }
}

function unusable(setting: string, value: string, cause: unknown): StartError {
  const { code = "", message } = cause as NodeJS.ErrnoException;
  const shown = value.length > MAX_SHOWN ? `${value.slice(0, MAX_SHOWN)}…` : value;
  return new StartError(`Bridge cannot start: ${setting} cannot be ${JSON.stringify(shown)}: ${reasons[code] ?? message}.`, { cause });
}

const file = "a file exists where a directory is needed; choose another directory";
const permission = "the user that Bridge runs as has no permission to create it; grant the permission, or choose another directory";

const reasons: Readonly<Record<string, string>> = {
  EEXIST: file,
  ENOTDIR: file,
  EACCES: permission,
  EPERM: permission,
  EROFS: "the file system is read-only; choose another directory",
  ENOENT: "no directory can be created there; choose another one",
  ENAMETOOLONG: "the path is too long; choose a shorter one",
  ELOOP: "the links form a loop; choose another path",
  ERR_INVALID_ARG_VALUE: "a path must not contain NUL",
};
