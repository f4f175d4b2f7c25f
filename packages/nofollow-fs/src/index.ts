/** File operations below a directory that other programs write to at the same time: no symbolic link is followed. */

export { type HeldDirectory, hasDescriptorPaths, holdDirectory, holdInside, nullIfAbsent, O_PATH } from "./held-directory.ts";
export { makeDirectoryInside, NotADirectory, type ObstacleHandling } from "./make-directory.ts";
export { makePrivateDirectory } from "./make-private-directory.ts";
export { openFileInside, openRegularFile } from "./open-file.ts";
export { type FileReading, isInside, pathOfOpenFile, readFileInside } from "./read-file.ts";
export { removeFileInside, removeInside } from "./remove.ts";
export { createFileInside, writeFileInside } from "./write-file.ts";
