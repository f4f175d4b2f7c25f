import { existsSync, readFileSync } from "node:fs";
import path from "node:path";

/** A link to a file: its text, its path and its anchor. Not a URL, and not a section of the same page. */
const FILE_LINK = /\[([^\]]+)\]\((?![a-z]+:|#)([^)#\s]+)(#[^)\s]*)?\)/g;
/** A link in parentheses, or a link that is the last sentence of its paragraph. It only refers to another page. */
const REFERENCE =
  /\s*\(\[why\]\((?![a-z]+:|#)[^)\s]*\)\)|(?<=\.)\s+\[[^\]]+\]\((?![a-z]+:|#)[^)\s]*\)\.?(?=\s*$|\s*\n\s*\n|\s*\n\s*(?:[-*#]|\d+\.) )/gi;

/**
 * Replaces the links to files that a package does not contain. Links to the README of another package refer to its page on npm, other
 * links become plain text, and links that only refer to another page are removed. `source` is the absolute path of the page. `files` are
 * the names that files have in the package, by their absolute paths; the page is in the directory of the package.
 */
export function replaceLinks(markdown: string, source: string, files: ReadonlyMap<string, string>): string {
  const resolve = (target: string): string => path.resolve(path.dirname(source), target);
  return markdown.replaceAll(REFERENCE, "").replaceAll(FILE_LINK, (_link, text: string, target: string, anchor = "") => {
    const name = files.get(resolve(target));
    if (name !== undefined) return `[${text}](${name}${anchor})`;
    const page = findNpmPage(resolve(target));
    return page === null ? text : `[${text}](${page}${anchor})`;
  });
}

/** Returns the page on npm for the README of a package in `packages/`; null for any other file. */
function findNpmPage(file: string): string | null {
  const [directory, manifest] = [path.dirname(file), path.join(path.dirname(file), "package.json")];
  const isPackage = path.basename(file) === "README.md" && path.basename(path.dirname(directory)) === "packages" && existsSync(manifest);
  if (!isPackage) return null;
  const { name } = JSON.parse(readFileSync(manifest, "utf8")) as { name: string };
  return `https://www.npmjs.com/package/${name}`;
}
