import { readdirSync, realpathSync } from "node:fs";
import path from "node:path";
import { helperAgents } from "./policy.ts";

/** What the program takes for a mention: an at sign, and behind it all that could be part of a path. */
const mentions = /(?<!\\)@([^ \t\r\n,;!?()[\]{}]+)/g;
/** Words with dots, dashes and slashes between them, such as a host or the name of a package: a path without any way to hide what it names. */
const plain = /^\/?[\p{L}\p{N}_]+(?:[./-][\p{L}\p{N}_]+)*\.?$/u;
/** Where paths mean something else to the program than to Bridge. */
const relativeToWho = /^\/(?:proc|dev)(?:\/|$)/;

/**
 * Keeps the program from putting files into a prompt: it takes `@path` for an order to do so where the path is one of the workspace, however
 * it is written, and then changes the text around it as well. A backslash is its own way to say that no file is meant; what plainly names
 * no file, and none of the program's agents, stays as it is. Where the program `searches` for files that are like a word, nothing does.
 */
export function escapeMentions(prompt: string, cwd: string, { searches }: { searches: boolean }): string {
  if (!prompt.includes("@")) return prompt;
  const names = new Set<string | undefined>([...entriesOf(cwd), ...helperAgents]);
  const isNothing = (target: string): boolean =>
    plain.test(target) && (target.startsWith("/") ? isElsewhere(target, cwd) : !names.has(firstOf(target)));
  return prompt.replace(mentions, (mention, target: string) => (!searches && isNothing(target) ? mention : `\\${mention}`));
}

/** The program reads files of its workspace alone, by their real path. */
function isElsewhere(target: string, cwd: string): boolean {
  if (relativeToWho.test(target)) return false;
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

/** Where a plain path begins; a dot at its end is the sentence's. */
const firstOf = (target: string): string | undefined => target.replace(/\.$/, "").split("/", 1)[0];

function entriesOf(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
}
