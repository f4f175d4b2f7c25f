/** Prefix of output ids by runtime. Other runtimes use their first letter. */
const prefixes: ReadonlyMap<string, string> = new Map([
  ["claude", "C"],
  ["gemini", "G"],
  ["codex", "X"],
  ["opencode", "O"],
]);

/** Returns the prefix of a runtime's output ids. */
export const prefixOf = (runtime: string): string => prefixes.get(runtime) ?? (/[a-z]/i.exec(runtime)?.[0] ?? "P").toUpperCase();

/** Creates a generator of ids: `C001`, `C002` … */
export function createIds(prefix: string): () => string {
  let last = 0;
  return () => {
    last += 1;
    return `${prefix}${String(last).padStart(3, "0")}`;
  };
}
