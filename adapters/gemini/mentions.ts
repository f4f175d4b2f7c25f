import { readdirSync } from "node:fs";
import path from "node:path";

/**
 * Keeps the program from putting files into a prompt: it takes `@path` for an order to do so where the path is one of the workspace, and
 * then changes the text around it as well. A backslash is its own way to say that no file is meant; what names no file stays as it is.
 */
export function escapeMentions(prompt: string, cwd: string): string {
  if (!prompt.includes("@")) return prompt;
  const entries = entriesOf(cwd);
  return prompt.replace(/(?<!\\)@("?)([^\s"]+)/g, (mention, quote: string, target: string) =>
    isInside(target, cwd, entries) ? `\\@${quote}${target}` : mention,
  );
}

/** May a mention that begins so name something in the directory? Where it ends is up to the program, so beginnings decide. */
function isInside(target: string, cwd: string, entries: readonly string[]): boolean {
  if (path.isAbsolute(target)) return path.normalize(target).startsWith(cwd);
  return /^\.{1,2}(\/|$)/.test(target) || entries.some((entry) => target.startsWith(firstWordOf(entry)));
}

/** A space in a name is written with a backslash before it, or in quotes. */
const firstWordOf = (name: string): string => name.split(/\s/, 1)[0] ?? name;

function entriesOf(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
}
