import type { KeyObject } from "node:crypto";
import type { EventType } from "#contract";

/** The types of the event log that a webhook can subscribe to: those that occur a few times per task. */
const logTypes = [
  "execution.started",
  "budget.warning",
  "tool.approval_requested",
  "tool.approval_resolved",
  "execution.completed",
  "execution.failed",
  "callback.delivered",
  "callback.dead",
] as const satisfies readonly EventType[];

/** The event of an adapter that goes offline. It belongs to no task, so the log does not contain it. */
export const ADAPTER_OFFLINE = "adapter.offline";

/** The event that a person has corrected what is spent of a budget. It belongs to no task, too. */
export const BUDGET_ADJUSTED = "budget.adjusted";

/** All types of events that a webhook can subscribe to. */
export const webhookTypes = [...logTypes, BUDGET_ADJUSTED, ADAPTER_OFFLINE] as const;
export type WebhookType = (typeof webhookTypes)[number];

/** The types of a webhook that names none: what a person may have to act on, and the ends of tasks. */
export const defaultTypes: readonly WebhookType[] = [
  "tool.approval_requested",
  "execution.completed",
  "execution.failed",
  "callback.dead",
  ADAPTER_OFFLINE,
];

/** Which events a webhook gets. All given conditions must hold. */
export interface WebhookFilter {
  agentId?: string | undefined;
  provider?: string | undefined;
  /** Labels that the task must have. */
  labels?: Readonly<Record<string, string>> | undefined;
}

/** A webhook of the file. */
export interface Subscription {
  /** Unique in the file. */
  name: string;
  tenant: string;
  url: string;
  types: readonly WebhookType[];
  filter: WebhookFilter;
  /** Each of them signs. */
  signingKeys: readonly KeyObject[];
  headers: Readonly<Record<string, string>>;
}

/** An event as filters compare it. `agentId` and `labels` are absent for events that belong to no task. */
export interface FilteredEvent {
  agentId?: string;
  provider?: string;
  labels?: Readonly<Record<string, string>>;
}

/** Whether an event fulfills all conditions of a filter. An event without a task fulfills no condition on tasks. */
export function matchesFilter(filter: WebhookFilter, event: FilteredEvent): boolean {
  if (filter.provider !== undefined && filter.provider !== event.provider) return false;
  if (filter.agentId !== undefined && filter.agentId !== event.agentId) return false;
  const { labels } = event;
  return Object.entries(filter.labels ?? {}).every(
    ([name, value]) => labels !== undefined && Object.hasOwn(labels, name) && labels[name] === value,
  );
}
