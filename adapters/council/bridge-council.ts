import { plannedRuns, recordBridge } from "bridge-council";
import type { CouncilKind, CouncilTask, Ending } from "./council-kind.ts";
import { renderEnding, tooManyRuns } from "./ending.ts";

/** A council of the roles of one runtime. */
export const bridgeCouncil = (runtime: string): CouncilKind => ({
  provider: `bridge-${runtime}`,
  needsDomains: true,
  maxProviders: 1,
  providers: [runtime],
  run: (task) => runOn(task.input.providers?.[0] ?? runtime, task),
});

/** Why a runtime is left out that could be asked. */
export function obstacleTo(provider: string, { settings, config }: Pick<CouncilTask, "settings" | "config">): string | null {
  if (!settings.of(provider).enabled) return "disabled by the settings of the workspace";
  const takesInput = (config.describeProvider(provider)?.capabilities.inputs ?? []).length > 0;
  return takesInput ? "a council or a responder itself, not a runtime" : null;
}

async function runOn(runtime: string, task: CouncilTask): Promise<Ending> {
  const { input, spending } = task;
  const skipReason = obstacleTo(runtime, task);
  const { models, warnings } = await chooseModels(runtime, task);
  const planned = plannedRuns(input) * Math.max(1, models.length);
  if (planned > spending.left) return tooManyRuns(planned, spending.left);
  const report = await recordBridge({
    ...memberOptions(runtime, runtime, task),
    input,
    models,
    warnings,
    ...(skipReason === null ? {} : { skipReason }),
  });
  return renderEnding({ ...report, notes: [...report.notes, ...settingsNotes(task)] }, input.scope);
}

/** What a council on one runtime is run with, whoever asks for it. */
export function memberOptions(bridge: string, provider: string, task: CouncilTask) {
  const described = task.config.describeProvider(provider);
  return {
    bridge,
    provider,
    profile: task.profile,
    reasoningLevel: task.settings.reasoningLevel,
    execute: task.execute,
    remembers: described?.capabilities.sessionResume === true,
    timeoutMultiplier: described?.timeoutMultiplier ?? 1,
    secondsLeft: task.secondsLeft,
    spending: task.spending,
    onProgress: task.onProgress,
    workspace: task.request.directories.workspace,
    availability: {
      found: described !== null && described.health !== "offline",
      detail: described?.detail ?? described?.health ?? "not loaded",
    },
    now: () => new Date(),
  };
}

/** A dispatch that names a model means it; else the workspace's settings do, whose names may be out of date: what the runtime does not know is left out. */
export async function chooseModels(
  provider: string,
  { request, settings, config }: Pick<CouncilTask, "request" | "settings" | "config">,
): Promise<{ models: string[]; warnings: { model: string; reason: string }[] }> {
  if (request.model !== undefined) return { models: [request.model], warnings: [] };
  const { models } = settings.of(provider);
  const known = models.length === 0 ? null : await config.listModels(provider);
  if (known === null) return { models, warnings: [] };
  const unknown = models.filter((model) => !known.includes(model));
  return {
    models: models.filter((model) => known.includes(model)),
    warnings: unknown.map((model) => ({ model, reason: "not found in provider model list" })),
  };
}

/** What the settings of the workspace could not say. */
export const settingsNotes = ({ settings: { fault, reasoningLevel } }: Pick<CouncilTask, "settings">): string[] => [
  ...(fault === null ? [] : [fault]),
  ...(reasoningLevel === null
    ? []
    : [`reasoning_level "${reasoningLevel}" was asked for: Codex is told, other runtimes reason as they are configured.`]),
];
