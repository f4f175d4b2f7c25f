import type { EventType } from "#contract";

/** The events that every process has to see, also those of other processes: ends of tasks, and decisions about approvals. */
export const essentialEvents: readonly EventType[] = ["execution.completed", "execution.failed", "tool.approval_resolved"];
