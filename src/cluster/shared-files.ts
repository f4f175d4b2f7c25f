import { randomUUID } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { StartError } from "../errors.ts";
import { createDataDirectory } from "../store/engines/sqlite/data-paths.ts";
import type { ClusterStore } from "../store/nodes/interface.ts";

/** The file that identifies the directory of shared files. */
const MARKER = "bridge-files-id";

/**
 * Checks that this node has the directory of shared files at the same path as the other nodes, and that it is the same directory. Throws
 * StartError otherwise, for example if it is not mounted.
 */
export async function checkSharedFiles(cluster: Pick<ClusterStore, "settleSharedFiles">, directory: string): Promise<void> {
  createDataDirectory("BRIDGE_FILES_DIR", directory);
  const id = readOrCreateMarker(path.join(directory, MARKER));
  const stored = await cluster.settleSharedFiles({ id, path: directory });
  if (stored.path !== directory)
    throw new StartError(
      `Bridge cannot start: with BRIDGE_FILES=shared, all nodes must have the same BRIDGE_FILES_DIR. It is ${directory} here and ${stored.path} on the other nodes.`,
    );
  if (stored.id !== id)
    throw new StartError(
      `Bridge cannot start: the directory ${directory} of BRIDGE_FILES_DIR is not the one that the other nodes use. Check that it is mounted on this host.`,
    );
}

/** Of two nodes that start at the same time, one creates the file. */
function readOrCreateMarker(file: string): string {
  try {
    writeFileSync(file, `${randomUUID()}\n`, { flag: "wx", mode: 0o600 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  }
  return readFileSync(file, "utf8").trim();
}
