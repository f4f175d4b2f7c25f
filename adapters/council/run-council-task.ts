import { constants } from "node:fs";
import { open } from "node:fs/promises";
import path from "node:path";
import { createTurns } from "@hak2i/async-kit";
import { createSpending, readSettings, resolveProfile, SETTINGS_FILE } from "bridge-council";
import type { ExecutionResult, ProviderDescription } from "#contract";
import { type ChildSpending, createChildSpending } from "../shared/agent-program/child-spending.ts";
import { failure } from "../shared/process/failure.ts";
import type { CouncilKind, CouncilParameters, CouncilResult } from "./council-kind.ts";

/** Maximum size of the settings file, in bytes. */
const SETTINGS_LIMIT_BYTES = 256 * 1024;

/** Runs a council and adds up the usage and cost of its child tasks. */
export async function runCouncilTask(
  kind: CouncilKind,
  { signal, ...parameters }: CouncilParameters,
): Promise<{ total: ChildSpending["total"]; result: CouncilResult }> {
  const { request, config, input } = parameters;
  const spending = createSpending(parameters.maxRuns);
  const children = createChildSpending();
  const { content, fault } = await readSettingsFile(request.directories.workspace);
  const settings = { ...readSettings(content), ...(fault === null ? {} : { fault }) };
  const profile = resolveProfile(input.taskType, request.profile);
  const turns = createTurns();
  const result = await kind.run({
    ...parameters,
    settings,
    spending,
    profile,
    // All roles of all runtimes share one workspace, where concurrent writers would overwrite each other's files.
    ...(profile === "modify" ? { takeTurn: <T>(work: () => Promise<T>) => turns.take("workspace", work) } : {}),
    async execute({ provider, message, model, timeoutSeconds, resumeToken, profile, role, domain, round }) {
      if (signal.aborted) return failure("cancelled", "The council was stopped.");
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
      return explainOffline(result, config.describeProvider(provider));
    },
  });
  return { total: children.total, result };
}

/** Replaces the error of an offline runtime, which refers clients to the list of adapters, by the reason and its remedy. */
const explainOffline = (result: ExecutionResult, described: ProviderDescription | null): ExecutionResult =>
  result.errorCode === "adapter_offline" && described?.health === "offline" && described.detail !== null
    ? { ...result, error: described.detail }
    : result;

/**
 * Reads the settings file of a workspace. A task may have replaced it, so only a regular file of limited size is read; otherwise returns
 * the fault.
 */
async function readSettingsFile(workspace: string): Promise<{ content: string | null; fault: string | null }> {
  const ignore = (reason: string) => ({ content: null, fault: `${SETTINGS_FILE} is not used: ${reason}.` });
  try {
    await using file = await open(path.join(workspace, SETTINGS_FILE), constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    const stat = await file.stat();
    if (!stat.isFile()) return ignore("it is not a regular file");
    if (stat.size > SETTINGS_LIMIT_BYTES) return ignore("it is longer than 256 KiB");
    return { content: await file.readFile("utf8"), fault: null };
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT") return { content: null, fault: null };
    return ignore(code === "ELOOP" ? "it is a link" : `it cannot be read (${code})`);
  }
}
