import type { Logger } from "pino";
import { type Metrics, toExemplar } from "../../metrics.ts";
import type { AdapterRegistry } from "../../registry/adapter-registry.ts";
import type { Task } from "../../task.ts";
import { traceFields } from "../../trace-context.ts";

/** The parts that `recordTaskEnd` informs about the end of a task. */
export interface TaskEndOptions {
  registry: AdapterRegistry;
  metrics: Metrics;
  logger: Logger;
  /** The trace context of the run of a task. */
  runTraceparent(task: Task): string | null;
}

/** Failures that may be caused by the runtime itself. They trigger a health check of the adapter. */
const SUSPICIOUS_CODES: ReadonlySet<string> = new Set([
  "adapter_offline",
  "adapter_error",
  "authentication_required",
  "runtime_crashed",
  "spawn_failed",
]);

/** Records the stored end of a task: log line, metrics, adapter health. Waiting clients and parents learn of the end from the event log. */
export function recordTaskEnd(task: Task, { registry, ...log }: TaskEndOptions): void {
  logTaskEnd(task, log);
  if (SUSPICIOUS_CODES.has(task.result?.errorCode ?? "")) registry.suspect(task.provider);
}

/** Writes the one log line and the metrics of an ended task: always its ids, never its content. */
export function logTaskEnd(task: Task, { logger, metrics, runTraceparent }: Omit<TaskEndOptions, "registry">): void {
  const { provider, result, createdAt, startedAt, finishedAt } = task;
  // The system clock may have been set back while the task ran.
  const runMs = Math.max(0, (finishedAt ?? 0) - (startedAt ?? finishedAt ?? 0));
  logger.info(
    {
      taskId: task.taskId,
      tenant: task.tenant,
      parentTaskId: task.parentTaskId ?? undefined,
      agentId: task.agentId,
      provider,
      state: task.state,
      errorCode: result?.errorCode,
      connection: result?.connection,
      model: result?.model,
      usage: result?.usage,
      costUsd: result?.costUsd,
      costSource: result?.costSource,
      queuedMs: Math.max(0, (startedAt ?? finishedAt ?? 0) - createdAt),
      runMs,
      restarts: task.restarts,
      traceparent: task.traceparent ?? undefined,
      ...traceFields(runTraceparent(task)),
    },
    "task ended",
  );
  metrics.executionDuration.observe({
    labels: { provider, outcome: result?.errorCode ?? "ok" },
    value: runMs / 1000,
    exemplarLabels: toExemplar(task.traceparent),
  });
  if (result?.costUsd !== undefined) metrics.cost.inc({ provider }, result.costUsd);
  for (const [kind, count] of Object.entries(result?.usage ?? {}))
    if (typeof count === "number") metrics.tokens.inc({ provider, kind: kind.replace(/Tokens$/, "") }, count);
}
