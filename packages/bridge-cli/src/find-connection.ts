import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import path from "node:path";
import { parseEnv } from "node:util";
import { CommandError } from "./command-error.ts";
import { type Profile, type Profiles, readProfiles } from "./profiles.ts";

/** The flags that select a Bridge. */
export interface ConnectionFlags {
  url?: string | undefined;
  /** Name of a profile. */
  profile?: string | undefined;
}

/** An address, and where it is from, for messages. */
export interface FoundAddress {
  url: string;
  urlSource: string;
}

/** An address, a token, and where they are from, for messages. */
export interface FoundConnection extends FoundAddress {
  token: string;
  tokenSource: string;
}

const DEFAULT_URL = "http://127.0.0.1:8787";
/** Maximum time for a command that prints a token. */
const TOKEN_COMMAND_MS = 30_000;

/**
 * Finds the address and the token: flags take precedence over the environment, the environment over the profile, and the profile over the
 * token of a Bridge in the current directory. The token of a profile is sent only to the address of the profile. Throws a CommandError.
 */
export function findConnection(flags: ConnectionFlags, env: NodeJS.ProcessEnv): FoundConnection {
  const chosen = chooseProfile(flags, env);
  const { url, urlSource } = findUrl(flags, env, chosen);
  const token = findToken(url, flags, env, chosen);
  if (token === null)
    throw new CommandError("forbidden", `There is no token for ${url} (from ${urlSource}).`, {
      hint: `Set BRIDGE_TOKEN, or run: brg profile add <name> --url ${url}`,
    });
  if (!/^[\x21-\x7e]+$/.test(token.token))
    throw new CommandError("forbidden", `The token from ${token.tokenSource} is empty or contains characters that no token has.`);
  return { url, urlSource, ...token };
}

/** Finds only the address, as `findConnection` does. Throws a CommandError. */
export const findAddress = (flags: ConnectionFlags, env: NodeJS.ProcessEnv): FoundAddress => findUrl(flags, env, chooseProfile(flags, env));

interface ChosenProfile extends Profile {
  name: string;
  /** Selected by a flag, so that it takes precedence over the environment. */
  byFlag: boolean;
}

function chooseProfile(flags: ConnectionFlags, env: NodeJS.ProcessEnv): ChosenProfile | null {
  const all = readProfiles(env);
  const name = flags.profile ?? (env["BRIDGE_PROFILE"] || all.current);
  if (name === null) return null;
  return {
    ...findProfile(all, name, flags.profile === undefined ? "BRIDGE_PROFILE" : "--profile"),
    name,
    byFlag: flags.profile !== undefined,
  };
}

/** Returns the profile with this name. Throws a CommandError that lists the existing ones. */
export function findProfile({ profiles }: Profiles, name: string, source: string): Profile {
  const profile = Object.hasOwn(profiles, name) ? profiles[name] : undefined;
  if (profile !== undefined) return profile;
  const names = Object.keys(profiles);
  throw new CommandError("usage", `${source}: there is no profile "${name}".`, {
    hint: names.length === 0 ? `Run: brg profile add ${name} --url <url>` : `Profiles: ${names.join(", ")}.`,
  });
}

function findUrl(flags: ConnectionFlags, env: NodeJS.ProcessEnv, profile: ChosenProfile | null): FoundAddress {
  const ofProfile = profile && { url: profile.url, urlSource: `the profile "${profile.name}"` };
  const found =
    flags.url !== undefined
      ? { url: flags.url, urlSource: "--url" }
      : profile?.byFlag === true && ofProfile !== null
        ? ofProfile
        : env["BRIDGE_URL"]
          ? { url: env["BRIDGE_URL"], urlSource: "BRIDGE_URL" }
          : (ofProfile ?? findLocalUrl(env));
  return { ...found, url: checkUrl(found.url, found.urlSource) };
}

/** Returns the address of a Bridge that runs with the settings of this directory. */
function findLocalUrl(env: NodeJS.ProcessEnv): FoundAddress {
  const port = Number(readLocalSetting("BRIDGE_PORT", env));
  // With 0, Bridge chooses the port when it starts.
  if (!(port > 0 && port < 65_536)) return { url: DEFAULT_URL, urlSource: "the default" };
  return { url: `http://127.0.0.1:${port}`, urlSource: "BRIDGE_PORT" };
}

/** Reads a setting of Bridge from the environment or, as Bridge does, from `.env` in the current directory. */
function readLocalSetting(name: string, env: NodeJS.ProcessEnv): string | undefined {
  if (env[name]) return env[name];
  try {
    return parseEnv(readFileSync(".env", "utf8").replace(/^\uFEFF/, ""))[name];
  } catch {
    // There is no file, or only Bridge may read it, and the default is used.
    return undefined;
  }
}

/** Returns the URL of a Bridge without a slash at its end. Throws a CommandError that names the source of an invalid one. */
export function checkUrl(text: string, source: string): string {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url !== null && /^https?:$/.test(url.protocol) && url.username + url.password + url.search + url.hash === "")
    return url.href.replace(/\/+$/, "");
  throw new CommandError("usage", `${source} must be an http or https URL without credentials, query or fragment; got "${text}".`, {
    hint: `For example: ${DEFAULT_URL}`,
  });
}

function findToken(
  url: string,
  flags: ConnectionFlags,
  env: NodeJS.ProcessEnv,
  profile: ChosenProfile | null,
): Pick<FoundConnection, "token" | "tokenSource"> | null {
  const ofProfile = profile !== null && profile.url.replace(/\/+$/, "") === url ? readProfileToken(profile, env) : null;
  if (flags.profile !== undefined && ofProfile !== null) return ofProfile;
  if (env["BRIDGE_TOKEN"]) return { token: env["BRIDGE_TOKEN"].trim(), tokenSource: "BRIDGE_TOKEN" };
  if (ofProfile !== null) return ofProfile;
  if (!isLoopback(url)) return null;
  const file = path.join(readLocalSetting("BRIDGE_DATA_DIR", env) || "data", "token");
  const token = readIfExists(file);
  return token === null ? null : { token: token.trim(), tokenSource: `the file ${file}` };
}

function readProfileToken(profile: ChosenProfile, env: NodeJS.ProcessEnv): Pick<FoundConnection, "token" | "tokenSource"> | null {
  const { name, tokenFile, tokenCommand } = profile;
  if (tokenFile !== undefined) {
    const token = readIfExists(tokenFile);
    if (token === null) throw new CommandError("forbidden", `The token file ${tokenFile} of the profile "${name}" does not exist.`);
    return { token: token.trim(), tokenSource: `the file ${tokenFile}` };
  }
  if (tokenCommand === undefined) return null;
  return { token: runTokenCommand(tokenCommand, env), tokenSource: `the token command of the profile "${name}"` };
}

/** Runs a command that prints a token. Throws a CommandError if it fails. */
export function runTokenCommand(command: string, env: NodeJS.ProcessEnv): string {
  try {
    return execFileSync("/bin/sh", ["-c", command], {
      env,
      encoding: "utf8",
      stdio: ["ignore", "pipe", "inherit"],
      timeout: TOKEN_COMMAND_MS,
    }).trim();
  } catch (error) {
    // The message of the error is not printed, because it can contain what the command printed.
    throw new CommandError("forbidden", `The token command failed: ${command}`, { cause: error });
  }
}

/** Reads a file that may be missing. */
function readIfExists(file: string): string | null {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
    throw new CommandError("forbidden", `The token file cannot be read: ${(error as Error).message}`, { cause: error });
  }
}

const isLoopback = (url: string): boolean => /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(new URL(url).hostname);
