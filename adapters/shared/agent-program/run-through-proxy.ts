import type { ExecutionEventListener } from "#contract";
import type { ProxyPlan } from "../model-proxy/proxy-plan.ts";
import type { SharedProxy } from "../model-proxy/shared-proxy.ts";
import { failure } from "../process/failure.ts";
import { isRateLimitMessage } from "../process/rate-limit-message.ts";
import type { ConnectionResult, ProgramTask } from "./agent-program.ts";

/** What a task needs for its model calls. */
export interface TaskProxy {
  plan: Exclude<ProxyPlan, { impossible: string }>;
  proxy: SharedProxy;
  emit: ExecutionEventListener;
}

/**
 * Runs a task whose program calls its model through the proxy, without the real credentials. The usage of each call is emitted before this
 * resolves, and the keys of the task are then invalid.
 */
export async function runThroughProxy<Task extends Pick<ProgramTask, "request" | "context" | "timeline">>(
  task: Task,
  { plan, proxy, emit }: TaskProxy,
  run: (task: Task) => Promise<ConnectionResult>,
): Promise<ConnectionResult> {
  const { context } = task;
  const { taskId } = task.request;
  const opened = await proxy.open().catch((error: Error) => error);
  if (opened instanceof Error) return failure("adapter_error", `Bridge could not open its model proxy: ${opened.message}`);
  const lease = opened.lease(
    {
      onCall: (report) => emit({ type: "usage.reported", taskId, data: report }),
      mayCall: () => context.mayCallModel(taskId),
    },
    plan.routes,
  );
  let result: ConnectionResult;
  try {
    result = await run({ ...task, context: { ...context, ...plan.apply(lease.local) } });
  } finally {
    await lease.close();
  }
  const limit = lease.lastLimit;
  if (limit === null) return result;
  const isLimited = result.errorCode === "rate_limited" || isEndedByLimit(result, task, lease.answered);
  if (isLimited) context.onModelLimited({ taskId, ...limit });
  return isLimited && result.status === "ok" ? { ...result, ...failure("rate_limited", limit.reason) } : result;
}

/**
 * Some programs report a rejected call as a normal end. A rejected call after the answer, such as one for a title, must not fail the task.
 * So the answer must report a limit, too, unless the vendor has answered nothing.
 */
function isEndedByLimit(result: ConnectionResult, { timeline }: Pick<ProgramTask, "timeline">, answered: number): boolean {
  return result.status === "ok" && (answered === 0 || isRateLimitMessage(result.output ?? timeline.answer));
}
