import { randomBytes } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { ConfigError } from "../errors.ts";

/**
 * Loads the token that Bridge generated at its first start, or generates it and passes it to `announce`. Only the user
 * that runs Bridge can read its file. Throws ConfigError if the file cannot be read or does not contain a token.
 */
export function loadGeneratedToken(dataDir: string, announce: (text: string) => void): string {
  const file = path.join(dataDir, "token");
  const stored = readToken(file);
  if (stored !== null) return stored;
  const token = `bridge_${randomBytes(32).toString("base64url")}`;
  writeFileSync(file, `${token}\n`, { mode: 0o600, flag: "wx" });
  announce(`No token is configured, so Bridge generated one and stored it in ${file}. It is printed only once:\n\n  ${token}\n\n`);
  return token;
}

function readToken(file: string): string | null {
  let text: string;
  try {
    text = readFileSync(file, "utf8").trim();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
    throw new ConfigError([`BRIDGE_DATA_DIR: the token in ${file} cannot be read (${(error as Error).message})`]);
  }
  if (!/^[!-~]{16,}$/.test(text))
    throw new ConfigError([`BRIDGE_DATA_DIR: ${file} does not contain a valid token; delete the file to generate a new token`]);
  return text;
}
