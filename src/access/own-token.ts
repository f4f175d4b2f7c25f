import { randomBytes } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { ConfigError } from "../errors.ts";

/** The token that Bridge makes for itself at the first start and keeps for its owner's eyes only. */
export function loadOwnToken(dataDir: string, announce: (text: string) => void): string {
  const file = path.join(dataDir, "token");
  const kept = readKept(file);
  if (kept !== null) return kept;
  const token = `bridge_${randomBytes(32).toString("base64url")}`;
  writeFileSync(file, `${token}\n`, { mode: 0o600, flag: "wx" });
  announce(`No token is configured, so Bridge has made one. It is kept in ${file} and shown only now:\n\n  ${token}\n\n`);
  return token;
}

function readKept(file: string): string | null {
  let text: string;
  try {
    text = readFileSync(file, "utf8").trim();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
    throw new ConfigError([`BRIDGE_DATA_DIR: the token in ${file} cannot be read (${(error as Error).message})`]);
  }
  if (!/^[!-~]{16,}$/.test(text)) throw new ConfigError([`BRIDGE_DATA_DIR: ${file} holds no token; delete it and Bridge makes a new one`]);
  return text;
}
