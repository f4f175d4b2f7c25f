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
  const indexByPath = new Map<string, number>();
  const indexOf = (directory: string) => indexByPath.get(directory.slice(0, -1)) as number;
  for (const [index, { path, content, encoding }] of files.entries()) {
    const parsed = readWritablePath(path);
    if ("fault" in parsed) refuse([index, "path"], parsed.fault);
    if (encoding === "base64" && !isBase64(content)) refuse([index, "content"], "must be base64, with padding and without line breaks");
    else if (encoding !== "base64" && !content.isWellFormed()) refuse([index, "content"], "must not contain a lone surrogate");
    if ("fault" in parsed) continue;
    const other = indexByPath.get(path);
    if (other !== undefined) refuse([index, "path"], `is the path of files.${other}; paths must differ`);
    indexByPath.set(path, index);
  }
  // The slash at the end sorts the files of a directory directly after a file that has the path of the directory.
  let parent: string | undefined;
  for (const path of [...indexByPath.keys()].map((path) => `${path}/`).sort()) {
    if (parent === undefined || !path.startsWith(parent)) parent = path;
    else refuse([indexOf(path), "path"], `is inside of files.${indexOf(parent)}, which is a file`);
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
