import { constants } from "node:fs";
import { open } from "node:fs/promises";
import path from "node:path";
import { type CouncilSettings, readSettings, SETTINGS_FILE } from "bridge-council";
import { withoutByteOrderMark } from "#contract";

/** Maximum size of the settings file, in bytes. */
const SETTINGS_LIMIT_BYTES = 256 * 1024;

/** Reads the council settings of a workspace. Their `fault` contains the reason if the file cannot be used. */
export async function readSettingsFile(workspace: string): Promise<CouncilSettings> {
  const { content, fault } = await readContent(workspace);
  return { ...readSettings(content), ...(fault === null ? {} : { fault }) };
}

/** A task may have replaced the file, so only a regular file of limited size is read; otherwise returns the fault. */
async function readContent(workspace: string): Promise<{ content: string | null; fault: string | null }> {
  const ignore = (reason: string) => ({ content: null, fault: `${SETTINGS_FILE} is not used: ${reason}.` });
  try {
    await using file = await open(path.join(workspace, SETTINGS_FILE), constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    const stat = await file.stat();
    if (!stat.isFile()) return ignore("it is not a regular file");
    if (stat.size > SETTINGS_LIMIT_BYTES) return ignore("it is longer than 256 KiB");
    return { content: withoutByteOrderMark(await file.readFile("utf8")), fault: null };
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT") return { content: null, fault: null };
    return ignore(code === "ELOOP" ? "it is a link" : `it cannot be read (${code})`);
  }
}
