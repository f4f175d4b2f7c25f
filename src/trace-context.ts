import { hash } from "node:crypto";
import type { TaskIdentity } from "./task.ts";

/** What determines the trace of a task. */
export interface TracedTask extends Pick<TaskIdentity, "seq" | "tenant" | "taskId"> {
  /** The trace context of the caller or, of a child task, of its parent. */
  traceparent: string | null;
}

/** The kinds of spans, each of which has its own ids. */
export type SpanKey = "dispatch" | "queue" | "agent" | "chat" | `tool:${string}` | `approval:${string}` | `attempt:${number}`;

const TRACEPARENT = /^[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})/;

/** Returns the trace and the span of a `traceparent`, and whether it is sampled; null if there is none. */
export function readTraceparent(traceparent: string | null): { traceId: string; spanId: string; isSampled: boolean } | null {
  const [, traceId, spanId, flags] = TRACEPARENT.exec(traceparent ?? "") ?? [];
  if (traceId === undefined || spanId === undefined) return null;
  return { traceId, spanId, isSampled: (Number.parseInt(flags ?? "0", 16) & 1) === 1 };
}

/** Returns the id of the trace of a task: that of its caller, or else a hash, which is the same on all nodes and after a restart. */
export const traceIdOf = (task: TracedTask): string =>
  readTraceparent(task.traceparent)?.traceId ?? hashTask(task, "trace").slice(0, TRACE_ID_LENGTH);

/** Returns the id of a span of a task, which is the same whenever the span is exported. */
export const spanIdOf = (task: TracedTask, key: SpanKey): string => hashTask(task, key).slice(0, SPAN_ID_LENGTH);

/** Returns the `traceparent` for what a task starts: its runtime and its child tasks. Its span is the run of the task. */
export const formatTraceparent = (task: TracedTask, isSampled: boolean): string =>
  `00-${traceIdOf(task)}-${spanIdOf(task, "agent")}-${isSampled ? "01" : "00"}`;

/** Returns the fields of log lines about a task; none if the task belongs to no trace. */
export function traceFields(traceparent: string | null): { trace_id?: string; span_id?: string } {
  const context = readTraceparent(traceparent);
  return context === null ? {} : { trace_id: context.traceId, span_id: context.spanId };
}

const TRACE_ID_LENGTH = 32;
const SPAN_ID_LENGTH = 16;

/** The number of the row distinguishes tasks that reuse the id of a deleted task. */
const hashTask = ({ tenant, taskId, seq }: TracedTask, key: string): string => hash("sha256", JSON.stringify([tenant, taskId, seq, key]));
