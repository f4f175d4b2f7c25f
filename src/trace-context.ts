import { hash } from "node:crypto";
import type { TaskIdentity } from "./task.ts";

/** What determines the trace of a task. */
export interface TracedTask extends Pick<TaskIdentity, "seq" | "tenant" | "taskId"> {
  /** The trace context of the caller or, of a child task, of its parent. */
  traceparent: string | null;
}

/** The kinds of spans, each of which has its own ids. Those of tools and approvals have the number of an event. */
const spanKeys = ["dispatch", "queue", "agent", "chat", "event", "attempt"] as const;
export type SpanKey = (typeof spanKeys)[number];

/** The ids of the trace and of the spans of a task. */
export interface TraceIds {
  traceId: string;
  /** Returns the id of a span. The number distinguishes spans of the same kind. */
  spanId(key: SpanKey, number?: number): string;
}

const TRACEPARENT = /^[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})/;

/** Returns the trace and the span of a `traceparent`, and whether it is sampled; null if there is none. */
export function readTraceparent(traceparent: string | null): { traceId: string; spanId: string; isSampled: boolean } | null {
  const [, traceId, spanId, flags] = TRACEPARENT.exec(traceparent ?? "") ?? [];
  if (traceId === undefined || spanId === undefined) return null;
  return { traceId, spanId, isSampled: (Number.parseInt(flags ?? "0", 16) & 1) === 1 };
}

/**
 * Returns the ids of a task, which are the same on all nodes and after a restart. The id of the trace is that of the caller, if there is
 * one. One hash contains all others, because a hash costs more than everything else about an id.
 */
export function traceIdsOf(task: TracedTask): TraceIds {
  // The number of the row distinguishes tasks that reuse the id of a deleted task.
  const digest = hash("sha512", JSON.stringify([task.tenant, task.taskId, task.seq]));
  return {
    traceId: readTraceparent(task.traceparent)?.traceId ?? digest.slice(0, TRACE_ID_LENGTH),
    spanId(key, number = 0) {
      const start = TRACE_ID_LENGTH + spanKeys.indexOf(key) * SPAN_ID_LENGTH;
      const id = digest.slice(start, start + SPAN_ID_LENGTH);
      return number === 0 ? id : (BigInt(`0x${id}`) ^ BigInt(number)).toString(16).padStart(SPAN_ID_LENGTH, "0");
    },
  };
}

/** Returns the `traceparent` for what a task starts: its runtime and its child tasks. Its span is the run of the task. */
export function formatTraceparent(task: TracedTask, isSampled: boolean): string {
  const { traceId, spanId } = traceIdsOf(task);
  return `00-${traceId}-${spanId("agent")}-${isSampled ? "01" : "00"}`;
}

/** Returns the fields of log lines about a task; none if the task belongs to no trace. */
export function traceFields(traceparent: string | null): { trace_id?: string; span_id?: string } {
  const context = readTraceparent(traceparent);
  return context === null ? {} : { trace_id: context.traceId, span_id: context.spanId };
}

const TRACE_ID_LENGTH = 32;
const SPAN_ID_LENGTH = 16;
