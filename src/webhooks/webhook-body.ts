import { stringifyWellFormed } from "#contract";
import { toPublicUrl } from "../network/public-url.ts";
import type { WebhookEvent } from "../store/posts/interface.ts";
import { ADAPTER_OFFLINE, BUDGET_ADJUSTED } from "./subscription.ts";

/** Builds the body of an event of a task: what it concerns and where to look. Of prompts and outputs, it contains only the title. */
export function buildTaskBody({ type, at, task, title, approvalId, errorCode }: WebhookEvent, publicUrl: string): string {
  const { taskId, agentId, provider } = task;
  const page = pagesOfTypes[type] ?? `tasks/${encodeURIComponent(taskId)}`;
  return buildBody(type, at, {
    ...{ taskId, agentId, provider },
    ...(approvalId !== null && { approvalId }),
    ...(type === "execution.failed" && errorCode !== null && { errorCode }),
    ...(title !== null && { title }),
    url: toConsoleUrl(publicUrl, page),
  });
}

/** Pages of the console that show more than the task of an event. */
const pagesOfTypes: Readonly<Record<string, string>> = { "tool.approval_requested": "approvals", "budget.warning": "usage" };

/** Builds the body of the event that an adapter of a node is offline. */
export const buildAdapterBody = (adapter: { provider: string; node: string; at: number }, publicUrl: string): string =>
  buildBody(ADAPTER_OFFLINE, adapter.at, { provider: adapter.provider, node: adapter.node, url: toConsoleUrl(publicUrl, "adapters") });

/** An adjustment of a budget, as webhooks report it. */
export interface AdjustedBudget {
  tenant: string;
  budget: string;
  spentUsd: number;
  by: string;
  reason: string;
}

/** Builds the body of the event that a budget was adjusted. */
export const buildAdjustmentBody = ({ tenant: _, ...adjusted }: AdjustedBudget, at: number, publicUrl: string): string =>
  buildBody(BUDGET_ADJUSTED, at, { ...adjusted, url: toConsoleUrl(publicUrl, "usage") });

const buildBody = (type: string, at: number, data: object): string =>
  stringifyWellFormed({ type, timestamp: new Date(at).toISOString(), data });

const toConsoleUrl = (publicUrl: string, page: string): string => toPublicUrl(publicUrl, `ui/${page}`);
