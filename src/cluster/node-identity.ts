import { createHash, randomUUID } from "node:crypto";
import { closeSync, fsyncSync, openSync, readFileSync, realpathSync, renameSync, statSync, writeSync } from "node:fs";
import { hostname } from "node:os";
import path from "node:path";
import { StartError } from "../errors.ts";
import type { NodeIdentity } from "../store/nodes/interface.ts";

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Reads the id of the node from its data directory, or generates and stores it. Throws StartError if the file contains no id. */
export function loadNodeIdentity(dataDir: string): NodeIdentity {
  const file = path.join(dataDir, "node-id");
  return { id: readId(file) ?? storeId(file), incarnation: randomUUID(), home: identifyDirectory(dataDir) };
}

function readId(file: string): string | null {
  let id: string;
  try {
    id = readFileSync(file, "utf8").trim();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
    throw error;
  }
  if (UUID.test(id)) return id;
  throw new StartError(
    `Bridge cannot start: ${file} does not contain the id of a node. Restore the file, or delete it to start as a new node.`,
  );
}

/** Renames a complete file, so that a crash leaves no empty one. */
function storeId(file: string): string {
  const id = randomUUID();
  const unfinished = `${file}.new`;
  const descriptor = openSync(unfinished, "w", 0o600);
  try {
    writeSync(descriptor, `${id}\n`);
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
  renameSync(unfinished, file);
  return id;
}

/**
 * A copy of a directory has another path, inode or device, or is on another host. Hosts are distinguished by their last boot, because hosts
 * that were copied from one image can have the same name and machine id. So a directory also has a new identity after a reboot.
 */
function identifyDirectory(directory: string): string {
  const { dev, ino } = statSync(directory);
  return createHash("sha256")
    .update(JSON.stringify([readBootId(), realpathSync(directory), dev, ino]))
    .digest("hex");
}

/** Returns the name of the host on systems without a boot id. */
function readBootId(): string {
  try {
    return readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();
  } catch {
    return hostname();
  }
}
