import { readdirSync, realpathSync } from "node:fs";
import path from "node:path";
import { HELPER_AGENTS } from "./policy.ts";

/** Text that Gemini parses as a mention: an at sign, followed by characters that can be part of a path. */
const MENTION = /(?<!\\)@([^ \t\r\n,;!?()[\]{}]+)/g;
/** Words separated by dots, dashes and slashes, such as a host or a package name. Such a path has no other spelling. */
const PLAIN_PATH = /^\/?[\p{L}\p{N}_]+(?:[./-][\p{L}\p{N}_]+)*\.?$/u;
/** Directories in which a path can name another file for Gemini than for Bridge. */
const PROCESS_DEPENDENT = /^\/(?:proc|dev)(?:\/|$)/;

/**
 * Prevents Gemini from inserting files into a prompt. Gemini replaces `@path` with the file if the path is in the workspace, in any
 * spelling, and changes the surrounding text. A backslash before the at sign disables this. A plain path that names neither a file nor an
 * agent of Gemini is not escaped, unless Gemini `searches` for files with similar names.
 */
export function escapeMentions(prompt: string, cwd: string, { searches }: { searches: boolean }): string {
  if (!prompt.includes("@")) return prompt;
  const names = new Set<string | undefined>([...entriesOf(cwd), ...HELPER_AGENTS]);
  const isHarmless = (target: string): boolean =>
    PLAIN_PATH.test(target) && (target.startsWith("/") ? isOutside(target, cwd) : !names.has(firstSegment(target)));
  return prompt.replace(MENTION, (mention, target: string) => (!searches && isHarmless(target) ? mention : `\\${mention}`));
}

/** Checks whether the real path is outside the workspace; Gemini does not insert such files. */
function isOutside(target: string, cwd: string): boolean {
  if (PROCESS_DEPENDENT.test(target)) return false;
  const inside = path.relative(realPathOf(cwd), realPathOf(target));
  return inside === ".." || inside.startsWith(`..${path.sep}`);
}

function realPathOf(file: string): string {
  try {
    return realpathSync(file);
  } catch {
    return path.resolve(file);
  }
}

/** Returns the first segment of a plain path. A trailing dot ends the sentence and is not part of the path. */
const firstSegment = (target: string): string | undefined => target.replace(/\.$/, "").split("/", 1)[0];

function entriesOf(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
}
