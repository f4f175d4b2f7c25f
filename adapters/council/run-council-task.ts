import { constants } from "node:fs";
import { open } from "node:fs/promises";
import path from "node:path";
import { createSpending, createTurns, readSettings, resolveProfile, SETTINGS_FILE } from "bridge-council";
import { type ChildSpending, createChildSpending } from "../shared/agent-program/child-spending.ts";
import type { CouncilKind, CouncilStart, Ending } from "./council-kind.ts";

/** The most that a settings file may hold, in bytes. */
const SETTINGS_LIMIT_BYTES = 256 * 1024;

/** Runs a council; whatever it asks is counted. */
export async function runCouncilTask(
  kind: CouncilKind,
  { signal, ...start }: CouncilStart,
): Promise<{ total: ChildSpending["total"]; ending: Ending }> {
  const { request, config, input } = start;
  const spending = createSpending(start.maxRuns);
  const children = createChildSpending();
  const { content, fault } = await readSettingsFile(request.directories.workspace);
  const settings = { ...readSettings(content), ...(fault === null ? {} : { fault }) };
  const profile = resolveProfile(input.taskType, request.profile);
  const ending = await kind.run({
    ...start,
    settings,
    spending,
    profile,
    // All roles, of whatever runtime, work in the same workspace. Two that write at once would overwrite each other's files.
    ...(profile === "modify" ? { takeTurn: createTurns() } : {}),
    async execute({ provider, message, model, timeoutSeconds, resumeToken, profile, role, domain, round }) {
      if (signal.aborted) return { status: "error", errorCode: "cancelled", error: "The council was stopped." };
      const result = await config.runChild({
        parentTaskId: request.taskId,
        provider,
        message,
        ...(model === undefined ? {} : { model }),
        timeoutSeconds,
        ...(resumeToken === undefined ? {} : { resumeToken }),
        ...(settings.reasoningLevel === null ? {} : { reasoningLevel: settings.reasoningLevel }),
        profile,
        metadata: { council: { role, domain, round } },
      });
      children.add(result);
      return result;
    },
  });
  return { total: children.total, ending };
}

/** A task may have put anything in its place: only a file of a usual size is read, and anything else is told. */
async function readSettingsFile(workspace: string): Promise<{ content: string | null; fault: string | null }> {
  const unused = (why: string) => ({ content: null, fault: `${SETTINGS_FILE} is not used: ${why}.` });
  try {
    await using file = await open(path.join(workspace, SETTINGS_FILE), constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    const stat = await file.stat();
    if (!stat.isFile()) return unused("it is no file");
    if (stat.size > SETTINGS_LIMIT_BYTES) return unused("it is longer than 256 KiB");
    return { content: await file.readFile("utf8"), fault: null };
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT") return { content: null, fault: null };
    return unused(code === "ELOOP" ? "it is a link" : `it cannot be read (${code})`);
  }
}
