import type { Run } from "bridge-cli";

/** Starts Bridge in this process, as `npm start` does. */
export const run: Run<object> = async () => {
  // The server reads its own commands from the arguments of the process.
  process.argv.length = 2;
  await import(new URL("../../start.js", import.meta.url).href);
  return undefined;
};
