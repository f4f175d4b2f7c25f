import { type ModelsReport, renderReport } from "bridge-council";
import type { Ending } from "./council-kind.ts";

/** The end of a council on one runtime: whenever there is a report, the task went well, also when the report says that nobody was there. */
export function renderEnding(report: ModelsReport, scope: string): Ending {
  const outputs = { ...report };
  if (report.status === "ABORTED")
    return { status: "error", errorCode: "cancelled", error: "The council was stopped.", outputs, connection: "native-dispatch" };
  const output = renderReport(report, { scope, timestamp: new Date().toISOString() });
  return { status: "ok", output, outputs, connection: "native-dispatch" };
}

/** The end of a council that would ask more than the operator allows; nothing was asked. */
export const tooManyRuns = (planned: number, allowed: number): Ending => ({
  status: "error",
  errorCode: "budget_exceeded",
  error: `This council would ask ${planned} questions, and ${allowed} are allowed: name fewer domains or models, choose a lower intensity, or raise BRIDGE_COUNCIL_MAX_RUNS.`,
  connection: "native-dispatch",
});
