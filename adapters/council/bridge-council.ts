import { plannedRuns, recordBridge } from "bridge-council";
import type { CouncilKind, CouncilTask, Ending } from "./council-kind.ts";
import { renderEnding, tooManyRuns } from "./ending.ts";
import { multiplierOf } from "./multiplier.ts";

/** A council of the roles of one runtime. */
export const bridgeCouncil = (runtime: string): CouncilKind => ({
  provider: `bridge-${runtime}`,
  needsDomains: true,
  maxProviders: 1,
  providers: [runtime],
  run: (task) => runOn(task.input.providers?.[0] ?? runtime, task),
});

/** Why a runtime is left out that could be asked. */
export const DISABLED = "disabled by the settings of the workspace";

async function runOn(runtime: string, task: CouncilTask): Promise<Ending> {
  const { input, spending } = task;
  const models = modelsOf(runtime, task);
  const planned = plannedRuns(input) * Math.max(1, models.length);
  if (planned > spending.left) return tooManyRuns(planned, spending.left);
  const report = await recordBridge({
    ...memberOptions(runtime, runtime, task),
    input,
    models,
    ...(task.settings.of(runtime).enabled ? {} : { skipReason: DISABLED }),
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
    execute: task.execute,
    remembers: described?.capabilities.sessionResume === true,
    timeoutMultiplier: multiplierOf(provider),
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

/** A dispatch that names a model means it; else the workspace's settings do. */
export const modelsOf = (bridge: string, { request, settings }: Pick<CouncilTask, "request" | "settings">): string[] =>
  request.model === undefined ? settings.of(bridge).models : [request.model];

/** What the settings of the workspace could not say. */
export const settingsNotes = ({ settings }: Pick<CouncilTask, "settings">): string[] => (settings.fault === null ? [] : [settings.fault]);
