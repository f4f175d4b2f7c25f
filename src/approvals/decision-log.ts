import type { AdapterLogger, ApprovalAnswer } from "#contract";
import { isTerminal } from "../events/event-feed.ts";
import type { EventLog } from "../events/event-log.ts";
import type { Metrics } from "../metrics.ts";
import type { ApprovalDecision } from "../store/records.ts";
import type { Store } from "../store/store.ts";
import type { TaskIdentity } from "../task.ts";

interface DecisionLogOptions {
  store: Pick<Store, "findApproval" | "catchUp">;
  eventLog: Pick<EventLog, "subscribe">;
  metrics: Pick<Metrics, "approvals">;
  logger: AdapterLogger;
  /** Called with each decision about a task of this process. */
  onDecision(approvalId: string, answer: ApprovalAnswer): void;
}

/** `decidedBy` of approvals that expire or whose task ends. */
export const BRIDGE = "bridge";

/** Creates the audit log of decisions, which includes approvals that the end of their task has decided. */
export function createDecisionLog({ store, eventLog, metrics, logger, onDecision }: DecisionLogOptions) {
  /** Numbers of the tasks whose decisions this process logs and counts. Every process sees all decisions. */
  const ownTasks = new Set<number>();

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
    const { taskId, tenant } = task;
    logDecision(task, approvalId).catch((error: unknown) => {
      logger.error({ err: error, approvalId, taskId, tenant }, "failed to read a decided approval");
    });
  }

  async function logDecision({ tenant, taskId, provider }: TaskIdentity, approvalId: string): Promise<void> {
    const approval = await store.findApproval(tenant, approvalId);
    if (approval === null) return;
    const { toolCallId, toolName, state, decidedBy, reason } = approval;
    metrics.approvals.inc({ provider, decision: decidedBy === BRIDGE ? "unanswered" : state });
    logger.info({ approvalId, taskId, tenant, toolCallId, toolName, state, decidedBy, reason }, "approval decided");
  }

  return {
    /** Logs and counts the decisions of a task, also of one that an earlier process ran. Call it before the task ends or is requeued. */
    adopt: ({ seq }: Pick<TaskIdentity, "seq">): void => void ownTasks.add(seq),
    /** Leaves later decisions of a requeued task to the process that runs it next. Call it after the requeue. */
    async release({ seq }: Pick<TaskIdentity, "seq">): Promise<void> {
      // Publishes the decisions of the requeue first. If the database cannot be read, they are published later and not logged.
      await store.catchUp().catch(() => {});
      ownTasks.delete(seq);
    },
  };
}
