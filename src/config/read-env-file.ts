import { readFileSync } from "node:fs";
import { parseEnv } from "node:util";
import { withoutByteOrderMark } from "#contract";
import { ConfigError } from "../errors.ts";

/**
 * Returns the variables of `.env` in the current directory; none if there is no such file. Throws ConfigError if the file cannot be read
 * as text, because a lost setting could disable a protection.
 */
export function readEnvFile(): Record<string, string | undefined> {
  const bytes = readBytes();
  // Each character of UTF-16 that is also in ASCII contains a zero byte.
  if (bytes.includes(0) || ["fffe", "feff"].includes(bytes.toString("hex", 0, 2)))
    throw new ConfigError([".env: is not UTF-8 text (UTF-16, which some Windows programs write, is not supported). Save it as UTF-8."]);
  return parseEnv(withoutByteOrderMark(bytes.toString()));
}

function readBytes(): Buffer {
  try {
    return readFileSync(".env");
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT") return Buffer.alloc(0);
    const fault =
      code === "EISDIR"
        ? "is a directory, which Docker creates for a mounted file that does not exist. Remove it with `rmdir .env`, and create a file."
        : `cannot be read (${code}). Let the user that runs Bridge read it, or remove it.`;
    throw new ConfigError([`.env: ${fault}`]);
  }
}
