import { accessConformance } from "./access.ts";
import { approvalConformance } from "./approvals.ts";
import { attentionConformance } from "./attention.ts";
import { budgetConformance } from "./budgets.ts";
import { clockConformance } from "./clock.ts";
import { columnTextConformance } from "./column-text.ts";
import { eventConformance } from "./events.ts";
import type { StoreSubject } from "./fixtures.ts";
import { maintenanceConformance } from "./maintenance.ts";
import { callbackConformance } from "./posts-callbacks.ts";
import { webhookConformance } from "./posts-webhooks.ts";
import { repositoryConformance } from "./repositories.ts";
import { taskConformance } from "./tasks.ts";
import { taskListConformance } from "./tasks-lists.ts";
import { taskStopConformance } from "./tasks-stops.ts";
import { taskWaitConformance } from "./tasks-waits.ts";
import { traceConformance } from "./traces.ts";
import { usageConformance } from "./usage.ts";

/** Checks that every storage engine passes: one file for each subject of the store. */
export function storeConformance(subject: StoreSubject): void {
  taskConformance(subject);
  taskStopConformance(subject);
  taskWaitConformance(subject);
  taskListConformance(subject);
  eventConformance(subject);
  callbackConformance(subject);
  usageConformance(subject);
  budgetConformance(subject);
  approvalConformance(subject);
  columnTextConformance(subject);
  accessConformance(subject);
  maintenanceConformance(subject);
  clockConformance(subject);
  webhookConformance(subject);
  attentionConformance(subject);
  repositoryConformance(subject);
  traceConformance(subject);
}
