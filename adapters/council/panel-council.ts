import { countPlannedRuns, describeNoAnswer, type ModelsReport, recordPanel, renderReport, SETTINGS_FILE } from "bridge-council";
import { failure } from "../shared/process/failure.ts";
import type { CouncilKind, CouncilResult, CouncilTask } from "./council-kind.ts";
import { createUnansweredFailure } from "./unanswered-failure.ts";

/** A panel: a council whose roles all run on one runtime. */
export const createPanelCouncil = (runtime: string): CouncilKind => ({
  provider: `bridge-${runtime}`,
  needsDomains: true,
  maxProviders: 1,
  providers: [runtime],
  run: (task) => runPanel(task.input.providers?.[0] ?? runtime, task),
});

/** Returns why a runtime is skipped; null if it takes part. */
export function findSkipReason(provider: string, { settings, config }: Pick<CouncilTask, "settings" | "config">): string | null {
  if (!settings.of(provider).enabled) return "disabled by the settings of the workspace";
  const described = config.describeProvider(provider);
  if (described === null) return `adapter_offline: ${config.findLoadFailure(provider) ?? "not loaded; add it to BRIDGE_ADAPTERS"}`;
  return (described.capabilities.inputs ?? []).length > 0 ? "this provider is a council or a responder, not a runtime" : null;
}

async function runPanel(runtime: string, task: CouncilTask): Promise<CouncilResult> {
  const { input, spending } = task;
  const skipReason = findSkipReason(runtime, task);
  const { models, warnings } = await chooseModels(runtime, task);
  const planned = countPlannedRuns(input) * Math.max(1, models.length);
  if (planned > spending.left) return createTooManyRunsFailure(planned, spending.left);
  const report = await recordPanel({
    ...buildPanelOptions(runtime, task),
    input,
    models,
    warnings,
    ...(skipReason === null ? {} : { skipReason }),
  });
  return toResult({ ...report, notes: [...report.notes, ...listSettingsNotes(task)] }, input.scope);
}

function toResult(report: ModelsReport, scope: string): CouncilResult {
  const { bridge, status } = report;
  const rendered = {
    output: renderReport(report, { scope, timestamp: new Date().toISOString() }),
    outputs: { ...report },
    connection: "native-dispatch",
  } as const;
  if (status === "COMPLETED") return { status: "ok", ...rendered };
  if (status === "ABORTED") return { ...failure("cancelled", "The council was stopped."), ...rendered };
  return { ...createUnansweredFailure("No role of the council answered.", [{ bridge, reason: describeNoAnswer(report) }]), ...rendered };
}

/** Creates the failure of a council that needs more questions than the operator allows. */
export const createTooManyRunsFailure = (planned: number, allowed: number): CouncilResult => ({
  ...failure(
    "budget_exceeded",
    `This council needs ${planned} questions, but only ${allowed} are allowed. Name fewer domains or models, choose a lower intensity, or raise BRIDGE_COUNCIL_MAX_RUNS.`,
  ),
  connection: "native-dispatch",
});

/** Builds the options of one panel. */
export function buildPanelOptions(provider: string, task: CouncilTask) {
  const described = task.config.describeProvider(provider);
  return {
    bridge: provider,
    provider,
    profile: task.profile,
    reasoningLevel: task.settings.reasoningLevel,
    execute: task.execute,
    ...(task.takeTurn === undefined ? {} : { takeTurn: task.takeTurn }),
    resumesSessions: described?.capabilities.sessionResume === true,
    timeoutMultiplier: described?.timeoutMultiplier ?? 1,
    secondsLeft: task.secondsLeft,
    spending: task.spending,
    onProgress: task.onProgress,
    workspace: task.request.directories.workspace,
    availability: {
      found: described !== null && described.health !== "offline",
      path: described?.path ?? null,
      connection: described?.connection ?? null,
      detail: described?.detail ?? described?.health ?? task.config.findLoadFailure(provider) ?? "not loaded",
    },
    now: () => new Date(),
  };
}

/**
 * Chooses the model of the dispatch, or else those of the settings. Omits models of the settings that the runtime does not list, with
 * a warning.
 */
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

/** Returns the notes about the workspace's settings for a report. */
export const listSettingsNotes = ({ settings: { fault, isStale, reasoningLevel } }: Pick<CouncilTask, "settings">): string[] => [
  ...(fault === null ? [] : [fault]),
  ...(isStale
    ? [`${SETTINGS_FILE} is older than its ttl_hours. Models that a runtime lists were checked; all other settings were used as they are.`]
    : []),
  ...(reasoningLevel === null
    ? []
    : [`reasoning_level "${reasoningLevel}" is passed to Codex. Other runtimes reason as they are configured.`]),
];
