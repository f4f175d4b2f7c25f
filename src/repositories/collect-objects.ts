import { rm, stat, writeFile } from "node:fs/promises";
import path from "node:path";
import { nullIfAbsent } from "@hak2i/nofollow-fs";
import type { HostGit } from "./host-git.ts";

const COLLECT_MS = 3_600_000;
const DAY_MS = 86_400_000;
/** Objects of a commit that is being stored have no reference yet. */
const KEEP_UNREFERENCED = "1.day.ago";
/** Its time of change is when references were removed last. It exists until their objects are removed, too. */
const REMOVED_FILE = "references-removed";
/** Its time of change is when all objects were last checked. */
const COLLECTED_FILE = "objects-collected";

/**
 * Removes the objects of a repository to which nothing refers. After references were removed, git checks all objects, at most once a day,
 * until those of the removed references are a day old. Otherwise it decides itself whether its packs need work.
 */
export async function collectObjects(git: HostGit, repository: string, hasRemoved: boolean, signal: AbortSignal): Promise<void> {
  const [removed, collected] = [path.join(repository, REMOVED_FILE), path.join(repository, COLLECTED_FILE)];
  if (hasRemoved) await writeFile(removed, "");
  const startedAt = Date.now();
  const removedAt = (await nullIfAbsent(stat(removed)))?.mtimeMs;
  const collectedAt = (await nullIfAbsent(stat(collected)))?.mtimeMs ?? 0;
  const isDue = removedAt !== undefined && startedAt - collectedAt > DAY_MS;
  const mode = isDue ? [] : ["--auto"];
  const argv = ["-c", "gc.auto=6700", "-c", "gc.autoDetach=false", "gc", ...mode, "--quiet", `--prune=${KEEP_UNREFERENCED}`];
  await git.store(repository, argv, { signal, ms: COLLECT_MS });
  if (!isDue) return;
  await writeFile(collected, "");
  if (startedAt - removedAt > DAY_MS) await rm(removed, { force: true });
}
