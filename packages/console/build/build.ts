import { stripVTControlCharacters } from "node:util";
import { fingerprintInputs } from "./fingerprint.ts";
import { writeConsole } from "./write-console.ts";

/* The program `npm run build:console`. Bridge runs it at its start in a clone if an input has changed. */

try {
  const fingerprint = fingerprintInputs();
  // Imported here, because an installation without development packages has no bundler.
  const { bundleConsole } = await import("./bundle-console.ts");
  writeConsole(await bundleConsole(), fingerprint);
} catch (error) {
  // The bundler colors its messages, also in logs.
  const message = stripVTControlCharacters(error instanceof Error ? error.message : String(error));
  console.error(`The console could not be built: ${message}`);
  console.error("Correct the error and run: npm run build:console");
  process.exitCode = 1;
}
