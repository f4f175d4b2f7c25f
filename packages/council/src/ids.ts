/** The letter with which the ids of a runtime's outputs begin; a runtime of another name has its own first letter. */
const prefixes: ReadonlyMap<string, string> = new Map([
  ["claude", "C"],
  ["gemini", "G"],
  ["codex", "X"],
  ["opencode", "O"],
]);

/** The prefix of a runtime's output ids. */
export const prefixOf = (runtime: string): string => prefixes.get(runtime) ?? (/[a-z]/i.exec(runtime)?.[0] ?? "P").toUpperCase();

/** Counts ids up: `C001`, `C002`, … */
export function createIds(prefix: string): () => string {
  let last = 0;
  return () => {
    last += 1;
    return `${prefix}${String(last).padStart(3, "0")}`;
  };
}
