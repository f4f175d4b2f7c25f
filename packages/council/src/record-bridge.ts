import { BRIDGE_OUTPUTS, fileTime, openArtifacts } from "./artifacts.ts";
import type { BridgeOptions } from "./bridge-options.ts";
import { renderReport } from "./render-report.ts";
import { type ModelsReport, runModels } from "./run-models.ts";

/** A council on one runtime that leaves its traces in a workspace. */
export interface RecordedBridgeOptions extends Omit<BridgeOptions, "log" | "model" | "idPrefix"> {
  /** Root of the workspace, absolute. */
  workspace: string;
  /** Models to run on, each on its own; empty: the runtime's own choice. */
  models: readonly string[];
  /** Facts about the runtime from before: whether it is there, over which connection, and in words how it is. */
  availability: { found: boolean; path: string | null; detail: string };
  now(): Date;
}

/** Runs a council on one runtime; its event log is written as things happen, its summary at the end. */
export async function recordBridge({ workspace, models, availability, now, ...options }: RecordedBridgeOptions): Promise<ModelsReport> {
  const { bridge, input } = options;
  const timestamp = now().toISOString();
  const artifacts = await openArtifacts({
    workspace,
    directory: BRIDGE_OUTPUTS,
    name: `${bridge.replaceAll(/[^A-Za-z0-9_.-]/g, "-")}-${fileTime(now())}-${input.sessionId}`,
    hasLog: true,
  });
  artifacts.log({ event: "bridge_start", bridge, session_id: input.sessionId, timestamp });
  const { found, path, detail } = availability;
  artifacts.log({ event: "preflight", step: "availability_check", result: found ? "found" : "missing", path, detail });
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
