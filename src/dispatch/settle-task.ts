import type { Logger } from "pino";
import type { Metrics } from "../metrics.ts";
import type { Task } from "../task.ts";

/** The one wide line and the numbers that the end of a task leaves behind. Ids always, contents never. */
export function logTaskEnd(task: Task, { logger, metrics }: { logger: Logger; metrics: Metrics }): void {
  const { provider, result, createdAt, startedAt, finishedAt } = task;
  // A system clock that is set back must not subtract from what was measured.
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
      queuedMs: Math.max(0, (startedAt ?? finishedAt ?? 0) - createdAt),
      runMs,
      restarts: task.restarts,
      traceparent: task.traceparent ?? undefined,
    },
    "task ended",
  );
  metrics.executionDuration.observe({ provider, outcome: result?.errorCode ?? "ok" }, runMs / 1000);
  if (result?.costUsd !== undefined) metrics.cost.inc({ provider }, result.costUsd);
  for (const [kind, count] of Object.entries(result?.usage ?? {}))
    if (typeof count === "number") metrics.tokens.inc({ provider, kind: kind.replace(/Tokens$/, "") }, count);
}
