import type { AdapterLogger, ApprovalAnswer } from "#contract";
import { isTerminal } from "../events/event-feed.ts";
import type { EventLog } from "../events/event-log.ts";
import type { Metrics } from "../metrics.ts";
import type { ApprovalDecision } from "../store/approvals/interface.ts";
import type { Store } from "../store/store.ts";
import type { TaskIdentity } from "../task.ts";
import { type TracedTask, traceFields } from "../trace-context.ts";

interface DecisionLogOptions {
  store: Pick<Store, "findApproval" | "catchUp">;
  eventLog: Pick<EventLog, "subscribe">;
  metrics: Pick<Metrics, "approvals">;
  logger: AdapterLogger;
  /** Returns the trace context of the run of a task; null if the task belongs to no trace. */
  runTraceparent(task: TracedTask): string | null;
  /** Called with each decision about a task of this process. */
  onDecision(approvalId: string, answer: ApprovalAnswer): void;
}

/** `decidedBy` of approvals that expire or whose task ends. */
export const BRIDGE = "bridge";

/** Creates the audit log of decisions, which includes approvals that the end of their task has decided. */
export function createDecisionLog({ store, eventLog, metrics, logger, runTraceparent, onDecision }: DecisionLogOptions) {
  /** The tasks whose decisions this process logs and counts, by number, with the ids of their traces. Every process sees all decisions. */
  const ownTasks = new Map<number, ReturnType<typeof traceFields>>();

  eventLog.subscribe((events) => {
    if (ownTasks.size === 0) return;
    for (const event of events) {
      const { type, task, data } = event;
      if (!ownTasks.has(task.seq)) continue;
      if (type === "tool.approval_resolved") noteDecision(task, JSON.parse(data));
      else if (isTerminal(event)) ownTasks.delete(task.seq);
    }
  });

  function noteDecision(task: TaskIdentity, { approvalId, decision, reason }: { approvalId: string } & ApprovalDecision): void {
    onDecision(approvalId, { decision, reason });
    // Read now, because the next event may end the task.
    const fields = fieldsOf(task);
    logDecision(task, approvalId, fields).catch((error: unknown) => {
      logger.error({ err: error, approvalId, ...fields }, "failed to read a decided approval");
    });
  }

  /** The fields of the log lines about a task. */
  const fieldsOf = ({ seq, taskId, tenant }: TaskIdentity): object => ({ taskId, tenant, ...ownTasks.get(seq) });

  async function logDecision({ tenant, provider }: TaskIdentity, approvalId: string, fields: object): Promise<void> {
    const approval = await store.findApproval(tenant, approvalId);
    if (approval === null) return;
    const { kind, toolCallId, toolName, state, decidedBy, reason } = approval;
    metrics.approvals.inc({ provider, decision: decidedBy === BRIDGE ? "unanswered" : state });
    logger.info({ approvalId, kind, ...fields, toolCallId, toolName, state, decidedBy, reason }, "approval decided");
  }

  return {
    /** Logs and counts the decisions of a task, also of one that an earlier process ran. Call it before the task ends or is requeued. */
    adopt: (task: TracedTask): void => void ownTasks.set(task.seq, traceFields(runTraceparent(task))),
    fieldsOf,
    /** Leaves later decisions of a requeued task to the process that runs it next. Call it after the requeue. */
    async release({ seq }: Pick<TaskIdentity, "seq">): Promise<void> {
      // Publishes the decisions of the requeue first. If the database cannot be read, they are published later and not logged.
      await store.catchUp().catch(() => {});
      ownTasks.delete(seq);
    },
  };
}
