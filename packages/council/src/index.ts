/**
 * A council of agents: experts, a challenger and an integration checker debate a question in rounds and produce one
 * report with a verdict.
 */

export { type CustomDomain, overrideDomains } from "./domains/custom-domains.ts";
export type { Domain } from "./domains/domain.ts";
export { domains } from "./domains/index.ts";
export { estimateTimeoutSeconds, measureScope } from "./estimate-timeout.ts";
export { type CouncilInput, type InputFault, readInput } from "./input.ts";
export { listRoles } from "./panel/list-roles.ts";
export type { RoleRequest, RoleResult } from "./panel/panel-options.ts";
export { countPlannedRuns, runPanel } from "./panel/run-panel.ts";
export { resolveProfile, taskTypeProperties } from "./profile.ts";
export { type Artifacts, BRIDGE_OUTPUTS, COUNCIL_OUTPUTS, formatFileTime, openArtifacts } from "./reports/artifacts.ts";
export type { CouncilReport, SkippedRuntime } from "./reports/council-report.ts";
export { recordPanel } from "./reports/record-panel.ts";
export { renderCouncil } from "./reports/render-council.ts";
export { renderReport } from "./reports/render-report.ts";
export { describeNoAnswer, type PanelReport } from "./reports/report.ts";
export { crossRounds } from "./run-cross-debate.ts";
export { chooseDomains, type Member, runDeepCouncil } from "./run-deep-council.ts";
export { type ModelsReport, runModels } from "./run-models.ts";
export { type CouncilSettings, readSettings, SETTINGS_FILE } from "./settings.ts";
export { createSpending, type Spending, shareEvenly } from "./spending.ts";
export type * from "./types.ts";
