import type { EventType } from "#contract";
import type { Task, TaskIdentity, TaskSummary } from "../../task.ts";
import type { StoredEvent } from "../events/interface.ts";

/** The export of traces, which one process at a time does. */
export interface TraceStore {
  /**
   * Claims the position of the export for a process, or renews its claim, and returns the position: at first the end of the log. Null while
   * another process holds it.
   */
  claimTracePosition(holder: string, forMs: number): Promise<number | null>;
  /** Moves the position, if the process still holds it. Returns false otherwise. */
  moveTracePosition(holder: string, to: number): Promise<boolean>;
  /** Reads the ends of runs and callbacks after an event, with what their spans need, oldest first. */
  readTraceEnds(after: number, limits: TraceLimits): Promise<TracePage>;
}

/** The events that end something: the run of a task, or the attempts of its callback. Their spans are exported together. */
export const traceEndTypes = [
  "execution.completed",
  "execution.failed",
  "callback.delivered",
  "callback.dead",
] as const satisfies readonly EventType[];

export type TraceEndType = (typeof traceEndTypes)[number];

/** The events of a run that begin or end a span, or contain calls of the model. */
export const traceEventTypes = [
  "execution.started",
  "tool.invoked",
  "tool.completed",
  "tool.approval_requested",
  "tool.approval_resolved",
  "usage.reported",
] as const satisfies readonly EventType[];

/** An event of a run with the beginning and the end of its data, which may be long. */
export interface TraceEvent extends Pick<StoredEvent, "number" | "type" | "at"> {
  head: string;
  tail: string;
}

/** An event that ends something, with everything that its spans need. */
export interface TraceEnd extends TraceEvent {
  type: TraceEndType;
  task: TaskIdentity & Pick<Task, "parentSeq" | "traceparent" | "tracestate" | "createdAt">;
  summary: Pick<TaskSummary, "model" | "costUsd" | "usage" | "errorCode">;
  /** The beginning of the stored request. */
  request: string;
  /** The events of the run; empty for callbacks. */
  events: readonly TraceEvent[];
  /** The callback, its last attempts as stored, and the data of its earlier end; null for the end of a run. */
  callback: { url: string; history: string | null; previousEnd: string | null } | null;
}

/** How much a page of ends contains. */
export interface TraceLimits {
  ends: number;
  /** Events of each run. */
  events: number;
  /** Characters of the beginning of the data of each event. */
  head: number;
  /** Characters of the request. */
  request: number;
}

/** The next part of the log for the export of traces. */
export interface TracePage {
  /** The number of the last event that was examined. */
  through: number;
  /** Whether the log continues after it. */
  hasMore: boolean;
  /** Number of events after the position that retention has deleted. */
  skipped: number;
  ends: TraceEnd[];
}
