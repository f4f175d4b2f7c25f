import { chmodSync, existsSync, mkdirSync, readFileSync, realpathSync, renameSync, statSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import path from "node:path";
import { CommandError } from "./command-error.ts";
import { isJsonObject } from "./parse-json.ts";

/** The address of a Bridge, and where its token is. */
export interface Profile {
  url: string;
  tokenFile?: string;
  /** A shell command that prints the token. */
  tokenCommand?: string;
}

/** The content of the file of profiles. */
export interface Profiles {
  current: string | null;
  profiles: Record<string, Profile>;
}

/** Returns the path of the file of profiles; null for a user without a home, for example in a container. */
function findProfilesFile(env: NodeJS.ProcessEnv): string | null {
  try {
    return path.join(env["XDG_CONFIG_HOME"] || path.join(env["HOME"] || homedir(), ".config"), "bridge", "config.json");
  } catch {
    return null;
  }
}

function profilesFile(env: NodeJS.ProcessEnv): string {
  const file = findProfilesFile(env);
  if (file !== null) return file;
  throw new CommandError("usage", "Profiles cannot be saved, because this user has no home directory.", {
    hint: "Set HOME or XDG_CONFIG_HOME, or select a Bridge with BRIDGE_URL and BRIDGE_TOKEN.",
  });
}

/** Reads the profiles; none if the file does not exist. Throws if the file is invalid, or if other users can write it. */
export function readProfiles(env: NodeJS.ProcessEnv): Profiles {
  const file = findProfilesFile(env);
  if (file === null) return { current: null, profiles: {} };
  let text: string;
  try {
    // The file can contain commands that `bridge` runs.
    if (process.platform !== "win32" && (statSync(file).mode & 0o022) !== 0)
      throw new CommandError("usage", `Other users can write ${file}.`, { hint: `Run: chmod 600 '${file}'` });
    text = readFileSync(file, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return { current: null, profiles: {} };
    throw error;
  }
  return parseProfiles(text, file);
}

/** Writes the profiles, so that only this user can read them. */
export function writeProfiles(env: NodeJS.ProcessEnv, profiles: Profiles): void {
  writePrivateFile(profilesFile(env), `${JSON.stringify(profiles, null, 2)}\n`);
}

/** Stores a token next to the profiles, and returns the path of its file. */
export function writeTokenFile(env: NodeJS.ProcessEnv, name: string, token: string): string {
  const file = path.join(path.dirname(profilesFile(env)), "tokens", name);
  writePrivateFile(file, `${token}\n`);
  return file;
}

const PRIVATE_FILE = 0o600;
const PRIVATE_DIRECTORY = 0o700;

function writePrivateFile(file: string, content: string): void {
  mkdirSync(path.dirname(file), { recursive: true, mode: PRIVATE_DIRECTORY });
  // The file can be a symbolic link, for example into a repository of dotfiles. A rename would replace the link, not its target.
  const target = existsSync(file) ? realpathSync(file) : file;
  const temporary = `${target}.${process.pid}`;
  writeFileSync(temporary, content, { mode: PRIVATE_FILE });
  // The mode of an existing file would otherwise remain.
  chmodSync(temporary, PRIVATE_FILE);
  renameSync(temporary, target);
}

function parseProfiles(text: string, file: string): Profiles {
  const reject = (problem: string): never => {
    throw new CommandError("usage", `${file}: ${problem}`, { hint: "Correct the file, or remove it and run `brg profile add`." });
  };
  let value: unknown;
  try {
    value = JSON.parse(text.trim());
  } catch (error) {
    return reject(`not valid JSON: ${(error as Error).message}`);
  }
  if (!isJsonObject(value) || !isJsonObject(value["profiles"])) return reject("`profiles` must be an object.");
  const { current = null, profiles } = value;
  for (const [name, profile] of Object.entries(profiles)) {
    if (!isJsonObject(profile) || typeof profile["url"] !== "string") return reject(`profiles.${name}.url must be a URL.`);
    for (const field of ["tokenFile", "tokenCommand"])
      if (profile[field] !== undefined && typeof profile[field] !== "string") return reject(`profiles.${name}.${field} must be a string.`);
  }
  if (current !== null && (typeof current !== "string" || !Object.hasOwn(profiles, current)))
    return reject(`\`current\` must be the name of a profile; got ${JSON.stringify(current)}.`);
  return { current: current as string | null, profiles: profiles as Record<string, Profile> };
}
