import { plannedRuns, recordBridge, SETTINGS_FILE } from "bridge-council";
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

/** The reason why a runtime is not asked; null if it is. */
export function obstacleTo(provider: string, { settings, config }: Pick<CouncilTask, "settings" | "config">): string | null {
  if (!settings.of(provider).enabled) return "disabled by the settings of the workspace";
  const described = config.describeProvider(provider);
  if (described === null) return "adapter_offline: not loaded; add it to BRIDGE_ADAPTERS";
  return (described.capabilities.inputs ?? []).length > 0 ? "a council or a responder itself, not a runtime" : null;
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

/** The options of a council on one runtime. */
export function memberOptions(bridge: string, provider: string, task: CouncilTask) {
  const described = task.config.describeProvider(provider);
  return {
    bridge,
    provider,
    profile: task.profile,
    reasoningLevel: task.settings.reasoningLevel,
    execute: task.execute,
    ...(task.takeTurn === undefined ? {} : { takeTurn: task.takeTurn }),
    remembers: described?.capabilities.sessionResume === true,
    timeoutMultiplier: described?.timeoutMultiplier ?? 1,
    secondsLeft: task.secondsLeft,
    spending: task.spending,
    onProgress: task.onProgress,
    workspace: task.request.directories.workspace,
    availability: {
      found: described !== null && described.health !== "offline",
      path: described?.connection ?? null,
      detail: described?.detail ?? described?.health ?? "not loaded",
    },
    now: () => new Date(),
  };
}

/** Chooses the model of the dispatch, else those of the settings. Names of the settings may be out of date: those that the runtime does not list are left out. */
export async function chooseModels(
  provider: string,
  { request, settings, config }: Pick<CouncilTask, "request" | "settings" | "config">,
): Promise<{ models: string[]; warnings: { model: string; reason: string }[] }> {
  if (request.model !== undefined) return { models: [request.model], warnings: [] };
  const { models } = settings.of(provider);
  const known = models.length === 0 ? null : await config.listModels(provider);
  if (known === null) {
    const reason = "the settings are older than ttl_hours, and this runtime does not list its models";
    return { models, warnings: settings.isStale ? models.map((model) => ({ model, reason })) : [] };
  }
  const unknown = models.filter((model) => !known.includes(model));
  return {
    models: models.filter((model) => known.includes(model)),
    warnings: unknown.map((model) => ({ model, reason: "not found in provider model list" })),
  };
}

/** Notes for a report on the settings of the workspace. */
export const settingsNotes = ({ settings: { fault, isStale, reasoningLevel } }: Pick<CouncilTask, "settings">): string[] => [
  ...(fault === null ? [] : [fault]),
  ...(isStale
    ? [`${SETTINGS_FILE} is older than its ttl_hours. Models that a runtime lists were checked; all other settings were used as they are.`]
    : []),
  ...(reasoningLevel === null
    ? []
    : [`reasoning_level "${reasoningLevel}" is passed to Codex. Other runtimes reason as they are configured.`]),
];
