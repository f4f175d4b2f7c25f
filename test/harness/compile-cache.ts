import path from "node:path";

/** Where Node keeps modules as it has compiled them, across runs: that halves the time of each start of a Bridge. */
export const compileCache: Readonly<Record<string, string>> = {
  NODE_COMPILE_CACHE: path.resolve(import.meta.dirname, "../../node_modules/.cache/node-compile-cache"),
};
