import { createTurns } from "@hak2i/async-kit";
import { createSpending, domains, overrideDomains, resolveProfile } from "bridge-council";
import type { ExecutionResult, ProviderDescription } from "#contract";
import { type ChildSpending, createChildSpending } from "../shared/agent-program/child-spending.ts";
import { failure } from "../shared/process/failure.ts";
import type { CouncilKind, CouncilParameters, CouncilResult } from "./council-kind.ts";
import { readSettingsFile } from "./read-settings-file.ts";

/** Runs a council and adds up the usage and cost of its child tasks. */
export async function runCouncilTask(
  kind: CouncilKind,
  { signal, ...parameters }: CouncilParameters,
): Promise<{ total: ChildSpending["total"]; result: CouncilResult }> {
  const { request, config } = parameters;
  const spending = createSpending(parameters.maxRuns);
  const children = createChildSpending();
  const settings = await readSettingsFile(request.directories.workspace);
  const registry = overrideDomains(overrideDomains(domains, settings.customDomains), parameters.input.customDomains);
  const input = { ...parameters.input, registry };
  const profile = resolveProfile(input.taskType, request.profile);
  const turns = createTurns();
  const result = await kind.run({
    ...parameters,
    input,
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
