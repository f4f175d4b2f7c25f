import type { PanelOptions } from "../panel/panel-options.ts";
import { type ModelsReport, runModels } from "../run-models.ts";
import { BRIDGE_OUTPUTS, formatFileTime, openArtifacts } from "./artifacts.ts";
import { renderReport } from "./render-report.ts";

/** Options of a council on one runtime that writes files to a workspace. */
export interface RecordPanelOptions extends Omit<PanelOptions, "log" | "model" | "idPrefix"> {
  /** Absolute path of the workspace. */
  workspace: string;
  /** Models to run separately; empty: the default of the runtime. */
  models: readonly string[];
  /** Availability of the runtime: whether it is online, its program or server, its connection and a description. */
  availability: { found: boolean; path: string | null; connection: string | null; detail: string };
  now(): Date;
}

/** Runs a council on one runtime. Writes the event log during the run and the summary at the end. */
export async function recordPanel({ workspace, models, availability, now, ...options }: RecordPanelOptions): Promise<ModelsReport> {
  const { bridge, input } = options;
  const timestamp = now().toISOString();
  const artifacts = await openArtifacts({
    workspace,
    directory: BRIDGE_OUTPUTS,
    name: `${bridge.replaceAll(/[^A-Za-z0-9_.-]/g, "-")}-${formatFileTime(now())}-${input.sessionId}`,
    hasLog: true,
  });
  artifacts.log({ event: "bridge_start", bridge, session_id: input.sessionId, timestamp });
  const { found, ...place } = availability;
  artifacts.log({ event: "preflight", step: "availability_check", result: found ? "found" : "missing", ...place });
  const report = await runModels({ ...options, log: artifacts.log }, models);
  artifacts.log({
    event: "bridge_complete",
    status: report.status,
    verdict: report.verdict,
    output_count: report.outputs.length,
    timestamp: now().toISOString(),
  });
  await artifacts.write("md", renderReport(report, { scope: input.scope, timestamp }));
  await artifacts.close();
  return {
    ...report,
    notes: artifacts.fault === null ? report.notes : [...report.notes, artifacts.fault],
    artifacts: artifacts.paths,
  };
}
