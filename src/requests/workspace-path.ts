import { sep } from "node:path";

/** Limits of a path in a workspace: number of names, and UTF-8 bytes. */
export const pathLimits = { depth: 64, pathBytes: 4096 } as const;

/** Directories of development tools. Bridge does not list, serve or write files in them. */
export const skippedDirectories: ReadonlySet<string> = new Set([".git", "node_modules"]);

/** Files at the root of a workspace that configure the agent. Bridge reads them for every task. */
const agentFiles: ReadonlySet<string> = new Set(["soul.md", "agents.md", "tools.md", "agent.json"]);

/** Names of `.git`, including its short name on Windows file systems. */
const gitNames: ReadonlySet<string> = new Set([".git", "git~1"]);

/** Maximum length of a name on common file systems. */
const MAX_NAME_BYTES = 255;

/** Splits the path of a listed file into names; null if no list can contain the path. */
export function readListedPath(path: string): string[] | null {
  if (path.includes("\0") || Buffer.byteLength(path) > pathLimits.pathBytes) return null;
  const names = path.split("/");
  const isSkipped = names.slice(0, -1).some((name) => skippedDirectories.has(name));
  return names.length <= pathLimits.depth && names.every(isPlainName) && !isSkipped ? names : null;
}

/** Splits a path that a caller wants to write into names, or returns its fault. */
export function readWritablePath(path: string): { names: string[] } | { fault: string } {
  const { pathBytes, depth } = pathLimits;
  // Checked first, because the other checks take time and memory for each character and name.
  if (Buffer.byteLength(path) > pathBytes) return { fault: `must have at most ${pathBytes} bytes and ${depth} names` };
  const names = path.split("/");
  const fault = findFault(path, names);
  return fault === null ? { names } : { fault };
}

function findFault(path: string, names: readonly string[]): string | null {
  const { pathBytes, depth } = pathLimits;
  if (path.startsWith("/")) return "must be relative to the workspace";
  if (/\p{Cc}/u.test(path) || !path.isWellFormed()) return "must not contain control characters or a lone surrogate";
  if (!names.every(isPlainName)) return 'must be names separated by "/", none of them empty, "." or ".."';
  if (names.length > depth) return `must have at most ${pathBytes} bytes and ${depth} names`;
  if (names.some((name) => Buffer.byteLength(name) > MAX_NAME_BYTES)) return `must not contain a name of more than ${MAX_NAME_BYTES} bytes`;
  const folded = names.map(foldName);
  if (folded.some((name) => gitNames.has(name) || skippedDirectories.has(name)))
    return "must not be in .git or node_modules, because programs execute files there";
  if (agentFiles.has(folded[0] ?? ""))
    return "must not name SOUL.md, AGENTS.md, TOOLS.md or agent.json at the root of the workspace, because only the operator may change them";
  return null;
}

const isPlainName = (name: string): boolean => name !== "" && name !== "." && name !== ".." && (sep === "/" || !name.includes(sep));

/** Normalizes a name as file systems may compare it: without case, invisible characters, and trailing dots and spaces. */
const foldName = (name: string): string =>
  foldCharacters(name)
    .toLowerCase()
    .replace(/[. ]+$/, "");

/** Skips ASCII names, which need no normalization. */
const foldCharacters = (name: string): string =>
  /^[\x20-\x7e]*$/.test(name) ? name : name.normalize("NFKC").replaceAll(/\p{Default_Ignorable_Code_Point}/gu, "");
