import { z } from "zod";
import type { DispatchedFile } from "../task.ts";
import { listOf } from "./field-schemas.ts";
import { readWritablePath } from "./workspace-path.ts";

/** Enough for a small project. Callers upload larger sets of files to the workspace before the dispatch. */
export const MAX_DISPATCH_FILES = 100;
/** Maximum decoded size of all files of a dispatch. The files are stored with the request. */
export const MAX_DISPATCH_FILES_BYTES = 1024 * 1024;

const dispatchFile = z.strictObject({
  path: z.string().describe("Relative to the workspace, with slashes."),
  content: z.string(),
  encoding: z.enum(["utf8", "base64"]).optional().describe("How `content` encodes the bytes of the file. Default: utf8."),
});

/** The schema of `files` for the API description. */
export const describedDispatchFiles = z
  .array(dispatchFile)
  .max(MAX_DISPATCH_FILES)
  .describe(
    `Files to write into the workspace before the task starts, also under the profile inspect: at most ${MAX_DISPATCH_FILES}, and 1 MiB (${MAX_DISPATCH_FILES_BYTES} bytes) in all. An existing file is replaced.`,
  );

/** The schema of `files`. */
export const dispatchFiles = listOf(MAX_DISPATCH_FILES, dispatchFile).check(({ value: files, issues }) => {
  const refuse = (path: PropertyKey[], message: string) => issues.push({ code: "custom", input: undefined, path, message });
  const taken = new Map<string, number>();
  for (const [index, { path, content, encoding }] of files.entries()) {
    const read = readWritablePath(path);
    if ("fault" in read) refuse([index, "path"], read.fault);
    if (encoding === "base64" && !isBase64(content)) refuse([index, "content"], "must be base64, with padding and without line breaks");
    else if (encoding !== "base64" && !content.isWellFormed()) refuse([index, "content"], "must not contain a lone surrogate");
    if ("fault" in read) continue;
    const other = taken.get(path);
    if (other !== undefined) refuse([index, "path"], `is the path of files.${other}; paths must differ`);
    taken.set(path, index);
  }
  // Only valid paths are compared, because they have few names.
  for (const [path, index] of taken) {
    const parent = findParent(path, taken);
    if (parent !== undefined) refuse([index, "path"], `is inside of files.${taken.get(parent)}, which is a file`);
  }
  const bytes = files.reduce((sum, file) => sum + Buffer.byteLength(file.content, file.encoding ?? "utf8"), 0);
  if (bytes > MAX_DISPATCH_FILES_BYTES)
    refuse(
      [],
      `must have at most ${MAX_DISPATCH_FILES_BYTES} bytes in all; got ${bytes}. Upload larger files to the workspace before the dispatch`,
    );
});

/** Returns the bytes of a file of a dispatch. */
export const decodeFile = ({ content, encoding = "utf8" }: DispatchedFile): Buffer => Buffer.from(content, encoding);

/** Compares the text with its re-encoded bytes, because Node ignores invalid characters. */
const isBase64 = (text: string): boolean => Buffer.from(text, "base64").toString("base64") === text;

/** Finds the first directory of the path that is also the path of a file. */
function findParent(path: string, files: ReadonlyMap<string, number>): string | undefined {
  for (let end = path.indexOf("/"); end !== -1; end = path.indexOf("/", end + 1)) {
    const parent = path.slice(0, end);
    if (files.has(parent)) return parent;
  }
  return undefined;
}
