/** Git stores a branch as a file, whose name has at most 255 bytes with `.lock`. */
const MAX_BYTES = 200;

const FORBIDDEN = /[\0-\x20\x7f~^:?*[\\]|\.\.|@\{|\/\/|^[-/]|[/.]$/;

/** Returns why git rejects a text as the name of a branch, or as a ref if `isRef` is true; null if git accepts it. */
export function findRefFault(name: string, { isRef = false } = {}): string | null {
  const kind = isRef ? "a branch, a tag or a commit" : "a branch of git";
  if (name === "" || !name.isWellFormed() || Buffer.byteLength(name) > MAX_BYTES)
    return `must be the name of ${kind}, with 1 to ${MAX_BYTES} bytes`;
  const isValid =
    !FORBIDDEN.test(name) &&
    name !== "@" &&
    (isRef || name !== "HEAD") &&
    name.split("/").every((part) => !part.startsWith(".") && !part.endsWith(".lock"));
  return isValid ? null : `must be the name of ${kind}: without spaces, control characters, .., //, @{ and ~ ^ : ? * [ \\`;
}

/** The name of the branch of a task whose dispatch names none. A `+` replaces each `:`, which git forbids. */
export const toDefaultBranch = (taskId: string): string => `bridge/${taskId.replaceAll(":", "+")}`;
