import { rmSync } from "node:fs";
import path from "node:path";
import { stripVTControlCharacters } from "node:util";
import { builtDirectory, FINGERPRINT_FILE, fingerprintInputs, ONLY_IF_CHANGED } from "./fingerprint.ts";
import { writeConsole } from "./write-console.ts";

/* The program `npm run build:console`. Bridge runs it at its start in a clone if an input has changed. */

try {
  const fingerprint = fingerprintInputs();
  // Imported here, because an installation without development packages has no bundler.
  const { bundleConsole } = await import("./bundle-console.ts");
  const files = await bundleConsole();
  // A person who runs this program wants another console, for example because files of this one are missing.
  if (!process.argv.includes(ONLY_IF_CHANGED)) rmSync(path.join(builtDirectory, FINGERPRINT_FILE), { force: true });
  writeConsole(files, fingerprint);
} catch (error) {
  // The bundler colors its messages, also in logs.
  const message = stripVTControlCharacters(error instanceof Error ? error.message : String(error));
  console.error(`The console could not be built: ${message}`);
  const isAbsent = error instanceof Error && "code" in error && error.code === "ERR_MODULE_NOT_FOUND";
  if (isAbsent) console.error("Install the development packages and run it again: npm ci && npm rebuild && npm run build:console");
  else console.error("Correct the error and run, as the owner of these files: npm run build:console");
  process.exitCode = 1;
}
