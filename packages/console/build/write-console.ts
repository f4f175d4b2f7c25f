import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { builtDirectory, FINGERPRINT_FILE, type Fingerprint, isBuiltFrom } from "./fingerprint.ts";

/** Replaces the built console. Two programs can do this at once: each replaces the whole directory, and an equal console stays. */
export function writeConsole(files: ReadonlyMap<string, string>, fingerprint: Fingerprint, directory = builtDirectory): void {
  const temporary = mkdtempSync(`${directory}-`);
  try {
    const next = path.join(temporary, "next");
    for (const [name, text] of [...files, [FINGERPRINT_FILE, JSON.stringify(fingerprint)] as const]) {
      mkdirSync(path.dirname(path.join(next, name)), { recursive: true });
      writeFileSync(path.join(next, name), text);
    }
    for (let attempt = 0; !isBuiltFrom(fingerprint, directory); attempt++) {
      move(directory, path.join(temporary, `previous-${attempt}`), ["ENOENT"]);
      if (move(next, directory, ["ENOTEMPTY", "EEXIST"])) return;
    }
  } finally {
    rmSync(temporary, { recursive: true, force: true });
  }
}

/** Renames a directory. Returns false after an error with one of these codes: another program was faster. */
function move(from: string, to: string, codes: readonly string[]): boolean {
  try {
    renameSync(from, to);
    return true;
  } catch (error) {
    if (error instanceof Error && "code" in error && codes.includes(String(error.code))) return false;
    throw error;
  }
}
