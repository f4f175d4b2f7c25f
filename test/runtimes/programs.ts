import path from "node:path";

/** Directory of the programs of this suite: its own installation, or the one named by `BRIDGE_TEST_RUNTIMES_BIN`. */
export const runtimesPath = (): string =>
  process.env["BRIDGE_TEST_RUNTIMES_BIN"] ?? path.join(import.meta.dirname, "programs/node_modules/.bin");

/** The directory of the Claude Agent SDK, next to those programs. */
export const sdkDirectory = (): string => path.resolve(runtimesPath(), "..");
