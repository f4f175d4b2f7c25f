import type { ExecutionEventListener } from "#contract";
import type { CallLimit } from "../model-api/call-limit.ts";
import type { ProxyPlan } from "../model-proxy/proxy-plan.ts";
import type { SharedProxy } from "../model-proxy/shared-proxy.ts";
import { failure } from "../process/failure.ts";
import { isLimitNotice } from "../process/rate-limit-message.ts";
import type { ConnectionResult, ProgramTask } from "./agent-program.ts";
import { createLimitWatch } from "./limit-watch.ts";

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
export async function runThroughProxy<Task extends Pick<ProgramTask, "request" | "context" | "timeline" | "signal">>(
  task: Task,
  { plan, proxy, emit }: TaskProxy,
  run: (task: Task) => Promise<ConnectionResult>,
): Promise<ConnectionResult> {
  const { context, timeline } = task;
  const { taskId } = task.request;
  const opened = await proxy.open().catch((error: Error) => error);
  if (opened instanceof Error) return failure("adapter_error", `Bridge could not open its model proxy: ${opened.message}`);
  const lease = opened.lease(
    {
      onCall: (report) => emit({ type: "usage.reported", taskId, data: report }),
      mayCall: () => context.mayCallModel(taskId),
      onLimit: () => watch.start(),
    },
    plan.routes,
  );
  const watch = createLimitWatch({ lastLimit: () => lease.lastLimit, isBusy: () => lease.isCalling || timeline.hasOpenTools });
  let result: ConnectionResult;
  try {
    const signal = AbortSignal.any([task.signal, watch.signal]);
    result = await run({ ...task, signal, context: { ...context, ...plan.apply(lease.local) } });
  } finally {
    watch.close();
    await lease.close();
  }
  const limit = lease.lastLimit;
  if (limit === null) return result;
  const isStopped = watch.signal.aborted && !task.signal.aborted && result.status === "error";
  const isLimited = isStopped || result.errorCode === "rate_limited" || isEndedByLimit(result, task, lease.answered);
  if (isLimited) context.onModelLimited({ taskId, ...limit });
  return isLimited && result.errorCode !== "rate_limited" ? { ...result, ...failure("rate_limited", describe(limit)) } : result;
}

const describe = ({ reason, resetsAt }: CallLimit): string =>
  resetsAt === null ? reason : `${reason} The limit ends at ${new Date(resetsAt).toISOString()}.`;

/**
 * Some programs report a rejected call as a normal end. A rejected call after the answer, such as one for a title, must not fail the task.
 * So the answer must be a notice of a limit, unless the vendor has answered nothing.
 */
function isEndedByLimit(result: ConnectionResult, { timeline }: Pick<ProgramTask, "timeline">, answered: number): boolean {
  return result.status === "ok" && (answered === 0 || isLimitNotice(result.output ?? timeline.answer));
}
