import { rm } from "node:fs/promises";
import path from "node:path";
import { expect, test } from "vitest";
import { checkSharedFiles } from "../../src/cluster/shared-files.ts";
import type { SharedFiles } from "../../src/store/nodes/interface.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";

/** The database that all nodes share. */
function openCluster() {
  let stored: SharedFiles | null = null;
  return {
    settleSharedFiles: async (directory: SharedFiles) => {
      stored ??= directory;
      return stored;
    },
  };
}

test("nodes with one shared directory at one path start", async () => {
  const cluster = openCluster();
  const directory = path.join(await temporaryDirectory(), "files");
  await checkSharedFiles(cluster, directory);
  await checkSharedFiles(cluster, directory);
});

test("a node whose directory is at another path, or is another one, does not start", async () => {
  const cluster = openCluster();
  const directory = await temporaryDirectory();
  await checkSharedFiles(cluster, directory);
  const other = await temporaryDirectory();
  await expect(checkSharedFiles(cluster, other)).rejects.toThrow(`It is ${other} here and ${directory} on the other nodes.`);
  // As if the directory was not mounted.
  await rm(path.join(directory, "bridge-files-id"));
  await expect(checkSharedFiles(cluster, directory)).rejects.toThrow("Check that it is mounted on this host.");
});
