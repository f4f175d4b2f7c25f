import { sep } from "node:path";

/** Limits of a path below a workspace: names in it, and UTF-8 bytes. */
export const pathLimits = { depth: 64, pathBytes: 4096 } as const;

/** Directories of development tools. Bridge neither lists, serves nor writes files in them. */
export const skippedDirectories: ReadonlySet<string> = new Set([".git", "node_modules"]);

/** Files at the root of a workspace that configure the agent. Bridge reads them for every task. */
const ownFiles: ReadonlySet<string> = new Set(["soul.md", "agents.md", "tools.md", "agent.json"]);

/** Other spellings of `.git` for file systems that know short names. */
const gitNames: ReadonlySet<string> = new Set([".git", "git~1"]);

/** The longest name that file systems take. */
const MAX_NAME_BYTES = 255;

/** The names of a path that a list of files can have shown; null for any other. */
export function readListedPath(path: string): string[] | null {
  if (path.includes("\0") || Buffer.byteLength(path) > pathLimits.pathBytes) return null;
  const names = path.split("/");
  const isSkipped = names.slice(0, -1).some((name) => skippedDirectories.has(name));
  return names.length <= pathLimits.depth && names.every(isPlainName) && !isSkipped ? names : null;
}

/** Splits a path that a caller wants to write into names; returns a fault if the path is not allowed. */
export function readWritablePath(path: string): { names: string[] } | { fault: string } {
  const { pathBytes, depth } = pathLimits;
  // First, because the other checks take time and memory for each character and name.
  if (Buffer.byteLength(path) > pathBytes) return { fault: `must have at most ${pathBytes} bytes and ${depth} names` };
  const names = path.split("/");
  const fault = findFault(path, names);
  return fault === null ? { names } : { fault };
}

function findFault(path: string, names: readonly string[]): string | null {
  const { pathBytes, depth } = pathLimits;
  if (path.startsWith("/")) return "must be relative to the workspace";
  if (/\p{Cc}/u.test(path) || !path.isWellFormed()) return "must not contain control characters or half of a surrogate pair";
  if (!names.every(isPlainName)) return 'must be names separated by "/", none of them empty, "." or ".."';
  if (names.length > depth) return `must have at most ${pathBytes} bytes and ${depth} names`;
  if (names.some((name) => Buffer.byteLength(name) > MAX_NAME_BYTES)) return `must not contain a name of more than ${MAX_NAME_BYTES} bytes`;
  const folded = names.map(foldName);
  if (folded.some((name) => gitNames.has(name) || skippedDirectories.has(name)))
    return "must not lead into .git or node_modules, because programs run what lies there";
  if (ownFiles.has(folded[0] ?? ""))
    return "must not name SOUL.md, AGENTS.md, TOOLS.md or agent.json at the root of the workspace, because they belong to the operator";
  return null;
}

const isPlainName = (name: string): boolean => name !== "" && name !== "." && name !== ".." && (sep === "/" || !name.includes(sep));

/** A name as a file system may compare it: without case, without characters that are not shown, without dots and spaces at the end. */
const foldName = (name: string): string =>
  foldCharacters(name)
    .toLowerCase()
    .replace(/[. ]+$/, "");

/** Most names are ASCII, which is as it is. */
const foldCharacters = (name: string): string =>
  /^[\x20-\x7e]*$/.test(name) ? name : name.normalize("NFKC").replaceAll(/\p{Default_Ignorable_Code_Point}/gu, "");
