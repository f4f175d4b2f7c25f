import { createIds } from "./ids.ts";
import type { PanelOptions } from "./panel/panel-options.ts";
import { countPlannedRuns, runPanel } from "./panel/run-panel.ts";
import { mergeSources, toOutput } from "./reports/merge-sources.ts";
import type { PanelReport } from "./reports/report.ts";
import { judge } from "./reports/verdict.ts";
import { shareEvenly } from "./spending.ts";

/** Report of a runtime that may run several models concurrently. */
export interface ModelsReport extends PanelReport {
  dispatch_mode: "single-model" | "multi-model";
  models_configured: string[];
  models_used: string[];
  instances_spawned: number;
  instances_completed: number;
  /** Ids of undisputed outputs that at least two models report. */
  intra_bridge_confirmed: string[];
}

/**
 * Runs one council per model concurrently and merges their findings. Findings of several models come first, and the
 * most severe version of a finding is kept. With at most one model it runs a single council.
 */
export async function runModels(options: Omit<PanelOptions, "model" | "idPrefix">, models: readonly string[]): Promise<ModelsReport> {
  const extra = { models_configured: [...models], intra_bridge_confirmed: [] };
  const [only, second] = models;
  if (second === undefined) {
    const report = await runPanel({ ...options, ...(only === undefined ? {} : { model: only }) });
    const completed = report.status === "COMPLETED" ? 1 : 0;
    return {
      ...report,
      ...extra,
      dispatch_mode: "single-model",
      models_used: completed === 1 ? [...models] : [],
      instances_spawned: 1,
      instances_completed: completed,
    };
  }
  const slugs = slugsOf(models);
  const shares = shareEvenly(
    options.spending,
    models.map(() => countPlannedRuns(options.input)),
  );
  const reports = await Promise.all(
    models.map(async (model, index) => {
      const spending = shares[index] ?? options.spending;
      const report = await runPanel({
        ...options,
        spending,
        model,
        idPrefix: `${initialOf(options.bridge)}-${slugs[index]}-`,
        // The models share one log and one task, so lines and events need the model.
        log: (event) => options.log({ ...event, model }),
        onProgress: (data) => options.onProgress({ ...data, model }),
      });
      shares[index]?.release();
      return { model, report };
    }),
  );
  const completed = reports.filter(({ report }) => report.status === "COMPLETED");
  const first = (completed[0] ?? reports[0])?.report;
  if (first === undefined) throw new Error("no model was given");
  const merged = mergeSources(
    completed.map(({ model, report }) => ({ source: model, outputs: report.outputs, disputed: report.disputed_outputs })),
    createIds(`${initialOf(options.bridge)}-merged-`),
  );
  for (const { id, severity, title, domain, positions } of merged) {
    options.log({ event: "output", id, severity, title, domain });
    for (const position of positions) options.log({ event: "merge", kept: id, dropped: position.id, model: position.source });
  }
  const outputs = merged.map(toOutput);
  return {
    ...first,
    ...extra,
    domains_covered: [...new Set(completed.flatMap(({ report }) => report.domains_covered))],
    debate_rounds: completed.length === 0 ? null : Math.max(...completed.map(({ report }) => report.debate_rounds ?? 0)),
    outputs,
    withdrawn_outputs: completed.flatMap(({ report }) => report.withdrawn_outputs),
    disputed_outputs: merged.flatMap((output) =>
      output.unresolved_challenge === null ? [] : [{ output: toOutput(output), unresolved_challenge: output.unresolved_challenge }],
    ),
    agents_spawned: reports.reduce((sum, { report }) => sum + report.agents_spawned, 0),
    verdict: completed.length === 0 ? null : judge(options.input.taskType, outputs),
    roles: reports.flatMap(({ report }) => report.roles),
    notes: reports.flatMap(({ model, report }) => [
      ...report.notes.map((note) => `${model}: ${note}`),
      ...(report.status === "COMPLETED"
        ? []
        : [`${model}: ${report.status}, ${report.skip_reason ?? report.halt_message ?? report.halt_reason ?? "no reason"}`]),
    ]),
    dispatch_mode: "multi-model",
    models_used: completed.map(({ model }) => model),
    instances_spawned: reports.length,
    instances_completed: completed.length,
    intra_bridge_confirmed: merged.filter(({ sources, status }) => sources.length >= 2 && status !== "disputed").map(({ id }) => id),
  };
}

const initialOf = (bridge: string): string => (bridge[0] ?? "p").toUpperCase();

/** Returns unique id parts for the models, some of which differ in punctuation only. */
function slugsOf(models: readonly string[]): string[] {
  const slugs = models.map((model) => model.replaceAll(/[^A-Za-z0-9.]+/g, "-"));
  return slugs.map((slug, index) => {
    const earlier = slugs.slice(0, index).filter((other) => other === slug).length;
    return earlier === 0 ? slug : `${slug}-${earlier + 1}`;
  });
}
