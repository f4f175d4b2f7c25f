import { stringifyWellFormed } from "#contract";
import type { StopRequest, Task, TaskIdentity, TaskRun } from "../../task.ts";
import { rejectApprovals } from "../approvals/postgres.ts";
import type { BudgetStore, BudgetUse, LimitsAt } from "../budgets/interface.ts";
import { type BudgetOutcome, changeReservations, type HeldChange } from "../budgets/postgres-reservations.ts";
import { limitsOf, meter, settle, toAmounts, UNKNOWN_TOTAL } from "../budgets/rows.ts";
import { toColumnText } from "../column-text.ts";
import type { AnyKind } from "../engines/postgres/batch-transaction.ts";
import type { BatchWriter } from "../engines/postgres/batch-writer.ts";
import type { OperationKind, Transaction } from "../engines/postgres/operation-kind.ts";
import { toColumns } from "../engines/postgres/statements.ts";
import type { EventStore } from "../events/interface.ts";
import { appendOperation } from "../events/postgres.ts";
import type { ReadGapped } from "../posts/callback-rows.ts";
import type { CallbackStore, DueCallback } from "../posts/interface.ts";
import { createUsageRollup } from "../usage/rows.ts";
import type { AttemptReport, Finish, TaskStore, UsageReport } from "./interface.ts";
import { acceptOperation } from "./postgres-accept.ts";
import { type Claim, type Claimed, claimOperation } from "./postgres-claim.ts";
import { finishOperation } from "./postgres-finish.ts";
import { moveOperation } from "./postgres-moves.ts";
import { postponeOperation, storeSpent } from "./postgres-waits.ts";
import { REQUEUE_REASON, toRequestColumns, toSpentSummary, toStopRequest } from "./rows.ts";

/** The other parts of the store that the writes of tasks use. */
interface Dependencies {
  /** The id of this node. */
  node: string;
  /** Whether this node posts callbacks. */
  delivers: boolean;
  readGapped: ReadGapped;
  /** The budgets in use, and what learns of changes. */
  budgets(): BudgetUse;
  /** Called after a stop request was stored. */
  onStop?(task: TaskIdentity, stop: StopRequest): void;
  /** Called after a claim has found a task of this provider that another node starts. */
  onForeignTask?(provider: string): void;
  /** Reports a callback that another node has to post: the node that has its origin, or null if none has it. */
  onForeignCallback?(owner: string | null): void;
}

/** The writes that change the state of a task or append to its log. */
export function createTaskWrites(writer: Pick<BatchWriter, "write">, dependencies: Dependencies) {
  const { node, delivers, readGapped, budgets, onStop = () => {}, onForeignTask = () => {}, onForeignCallback = () => {} } = dependencies;
  const rollup = createUsageRollup();
  let announceCallback: (callback: DueCallback) => void = () => {};

  async function end(from: "queued" | "running", task: Task, finish: Finish, patient: boolean): Promise<Task | null> {
    const bytes = finish.storedResult?.json.length ?? 0;
    const input = { task, from, finish, deliverer: delivers ? node : null, node, rollup, limitsAt: budgets().limitsAt };
    const ended = await writer.write(finishOperation, input, { patient, bytes });
    if (ended === null) return null;
    if (task.budgets !== undefined) budgets().onRoom();
    const { callback } = ended;
    if (callback?.owner === node) announceCallback(callback.toCallback(readGapped));
    else if (callback !== null) onForeignCallback(callback.owner);
    return ended.task;
  }

  return {
    insertTaskIfAbsent(task, { starts, limits } = { starts: false }) {
      const { request, metadata } = toRequestColumns(task);
      const bytes = request.length + (metadata?.length ?? 0);
      const { limitsAt } = budgets();
      const asked = starts ? (task.asks ?? []).map(({ name }) => name) : [];
      return writer.write(acceptOperation, { task, starts, limits, node, budgets: asked, limitsAt }, { bytes });
    },
    async startNextTaskIfQueued(filter) {
      // Each claim runs in a separate batch, so that tasks of agents on other nodes do not delay other writes.
      const { limitsAt } = budgets();
      const names = limitsOf(filter, limitsAt(Date.now())).map(({ name }) => name);
      let claim: Claim = { ...filter, node, limitsAt, budgets: names };
      for (;;) {
        const { task, next }: Claimed = await writer.write(claimOperation, claim, { patient: true });
        if (next === null) return task;
        // The node may have passed over the task while this claim held it.
        onForeignTask(filter.provider);
        claim = next;
      }
    },
    async reportUsageIfRunning(task, report) {
      const { limitsAt, onReached } = budgets();
      const stored = await writer.write(reportUsageOperation, { ...report, task, limitsAt }, { patient: true });
      if (stored !== null && stored.reached !== null) onReached(task, stored.reached);
      return stored !== null;
    },
    async meterIfRunning(task, spent) {
      if (task.budgets === undefined) return;
      const { limitsAt, onReached } = budgets();
      const { reached } = await writer.write(meterOperation, { task, spent, limitsAt }, { patient: true });
      if (reached !== null) onReached(task, reached);
    },
    reportAttemptsIfRunning: (task, report) => writer.write(reportAttemptsOperation, { ...report, task }, { patient: true }),
    async postponeTaskIfRunning(task, postponement) {
      const input = { ...postponement, task, limitsAt: budgets().limitsAt };
      const isPostponed = await writer.write(postponeOperation, input, { patient: true });
      if (isPostponed && task.budgets !== undefined) budgets().onRoom();
      return isPostponed;
    },
    async requeueTaskIfRunning(task) {
      const isQueued = await writer.write(requeueOperation, { task, limitsAt: budgets().limitsAt }, { patient: true });
      if (isQueued && task.budgets !== undefined) budgets().onRoom();
      return isQueued;
    },
    async requestStopIfRunning(task, stop) {
      const stored = await writer.write(stopOperation, { task, stop });
      if (stored !== null) onStop(task, stored);
      return stored !== null;
    },
    moveTaskIfQueued: (task, to) => writer.write(moveOperation, { task, to }, { patient: true }),
    finishTaskIfQueued: (task, finish, { patient } = { patient: true }) => end("queued", task, finish, patient),
    finishTaskIfRunning: (task, finish) => end("running", task, finish, true),
    appendEventsIfRunning: (task, events) =>
      writer.write(appendOperation, { task, events }, { patient: true, bytes: events.reduce((sum, { data }) => sum + data.length, 0) }),
    onCallback(listener) {
      announceCallback = listener;
    },
  } satisfies Partial<TaskStore & BudgetStore & EventStore & CallbackStore>;
}

/** What a running task has spent so far. */
interface Report extends UsageReport {
  task: TaskRun;
  limitsAt: LimitsAt;
}

/** Stores what running tasks have spent so far, with their events, and counts it in their budgets. Null if the guard does not hold. */
const reportUsageOperation: OperationKind<Report, { reached: string | null } | null> = {
  name: "report_usage",
  keyOf: ({ task }) => task.seq,
  isRepeatable: true,
  budgetsOf: ({ task }) => task.budgets ?? [],
  // Its counts of budgets are read before they are written.
  overlaps: (inputs) => inputs.every(({ task }) => task.budgets === undefined),
  async run(inputs, transaction) {
    const allowed = inputs.filter(({ task }) => isCurrentRun(task, transaction));
    // Of several reports of a task, the last one contains the others.
    const last = new Map(allowed.map(({ task, spent }) => [task.seq, { seq: task.seq, ...toSpentSummary(spent) }]));
    if (last.size > 0) await transaction.query(storeSpent, toColumns(["seq", "cost_usd", "cost_source", "usage"], [...last.values()]));
    const metered = await meterAll(allowed, transaction);
    return inputs.map((input) => {
      if (!allowed.includes(input)) return { output: null };
      const { task, event } = input;
      const { events = [], reached = null } = metered.get(input) ?? {};
      return { output: { reached }, events: [event, ...events].map((one) => ({ task, ...one })) };
    });
  },
};

/** Counts in their budgets what running tasks have spent with their children. */
const meterOperation: OperationKind<Omit<Report, "event">, { reached: string | null }> = {
  name: "meter",
  keyOf: ({ task }) => task.seq,
  isRepeatable: true,
  budgetsOf: ({ task }) => task.budgets ?? [],
  async run(inputs, transaction) {
    const metered = await meterAll(
      inputs.filter(({ task }) => isCurrentRun(task, transaction)),
      transaction,
    );
    return inputs.map((input) => {
      const { events = [], reached = null } = metered.get(input) ?? {};
      return { output: { reached }, events: events.map((event) => ({ task: input.task, ...event })) };
    });
  },
};

/** Counts what tasks have spent in those budgets that apply to them. */
async function meterAll<Input extends Omit<Report, "event">>(
  inputs: readonly Input[],
  transaction: Transaction,
): Promise<Map<Input, BudgetOutcome>> {
  const limited = inputs.filter(({ task }) => task.budgets !== undefined);
  const changes = limited.map(({ task, spent }): HeldChange => {
    const total = toAmounts(spent);
    return { task: task.seq, change: (period, reservation) => meter(period, reservation, total) };
  });
  const outcomes = await changeReservations(changes, { limitsAt: limited[0]?.limitsAt ?? noLimits, next: "running" }, transaction);
  return new Map(limited.flatMap((input, index) => (outcomes[index] === undefined ? [] : [[input, outcomes[index]]])));
}

/** The attempts of a running task that have ended. */
interface ReportedAttempts extends AttemptReport {
  task: TaskRun;
}

/** Stores the attempts of running tasks, with their events. Returns false if the guard does not hold. */
const reportAttemptsOperation: OperationKind<ReportedAttempts, boolean> = {
  name: "report_attempts",
  keyOf: ({ task }) => task.seq,
  isRepeatable: true,
  overlaps: () => true,
  async run(inputs, transaction) {
    const allowed = inputs.filter(({ task }) => isCurrentRun(task, transaction));
    // Of several reports of a task, the last one contains the others.
    const last = new Map(allowed.map(({ task, attempts }) => [task.seq, { seq: task.seq, attempts: stringifyWellFormed(attempts) }]));
    if (last.size > 0) await transaction.query(storeAttempts, toColumns(["seq", "attempts"], [...last.values()]));
    return inputs.map((input) =>
      allowed.includes(input) ? { output: true, events: input.events.map((event) => ({ task: input.task, ...event })) } : { output: false },
    );
  },
};

const storeAttempts = {
  name: "store_attempts",
  text: "UPDATE task t SET attempts = given.attempts FROM unnest($1::bigint[], $2::text[]) AS given (seq, attempts) WHERE t.seq = given.seq",
};

function isCurrentRun({ seq, restarts }: TaskRun, transaction: Transaction): boolean {
  const stored = transaction.lockedTask(seq);
  return stored?.state === "running" && stored.restarts === restarts;
}

const noLimits: LimitsAt = () => [];

/** A task to queue again. */
interface Requeue {
  task: TaskRun;
  limitsAt: LimitsAt;
}

/**
 * Queues running tasks again, once, rejects their pending approvals, and returns their reservations. Returns false if the guard does not
 * hold.
 */
const requeueOperation: OperationKind<Requeue, boolean> = {
  name: "requeue",
  keyOf: ({ task }) => task.seq,
  isRepeatable: false,
  budgetsOf: ({ task }) => task.budgets ?? [],
  async run(inputs, transaction) {
    const allowed = inputs.filter(({ task }) => isFirstRun(task, transaction)).map(({ task }) => task.seq);
    const requeued = allowed.length === 0 ? [] : (await transaction.query(requeueTasks, [allowed])).map(({ seq }) => Number(seq));
    for (const seq of requeued) Object.assign(transaction.lockedTask(seq) ?? {}, { state: "queued", restarts: 1 });
    const rejections = requeued.map((task) => ({ task, reason: REQUEUE_REASON }));
    const events = requeued.length === 0 ? new Map() : await rejectApprovals(rejections, transaction);
    const limited = inputs.filter(({ task }) => task.budgets !== undefined && requeued.includes(task.seq));
    const changes = limited.map(
      ({ task }): HeldChange => ({ task: task.seq, change: (period, reservation) => settle(period, reservation, UNKNOWN_TOTAL) }),
    );
    const outcomes = await changeReservations(changes, { limitsAt: limited[0]?.limitsAt ?? noLimits, next: "queued" }, transaction);
    return inputs.map((input) => {
      const { task } = input;
      const warnings = (outcomes[limited.indexOf(input)]?.events ?? []).map((event) => ({ task, ...event }));
      return { output: requeued.includes(task.seq), events: [...(events.get(task.seq) ?? []), ...warnings] };
    });
  },
};

const isFirstRun = (task: TaskRun, transaction: Transaction): boolean => task.restarts === 0 && isCurrentRun(task, transaction);

/** A task that should stop is not started again. If its agent has lost its place, any node may start the task. */
const requeueTasks = {
  name: "requeue_tasks",
  text: `UPDATE task t SET state = 'queued', started_at = NULL, restarts = 1,
      node = (SELECT p.node FROM place p WHERE p.tenant = t.tenant AND p.agent_id = t.agent_id)
    WHERE seq = ANY ($1::bigint[]) AND stop_code IS NULL RETURNING seq`,
};

/** A task that should stop. */
interface Stop {
  task: TaskIdentity;
  stop: StopRequest;
}

/** Stores stop requests of running tasks. Returns the first request of each task; null if the task is not running. */
const stopOperation: OperationKind<Stop, StopRequest | null> = {
  name: "stop",
  keyOf: ({ task }) => task.seq,
  isRepeatable: false,
  async run(inputs, transaction) {
    const running = inputs.filter(({ task }) => transaction.lockedTask(task.seq)?.state === "running");
    const rows = running.map(({ task, stop: { code, reason } }) => ({ seq: task.seq, code, reason: toColumnText(reason) }));
    const stored = rows.length === 0 ? [] : await transaction.query(storeStops, toColumns(["seq", "code", "reason"], rows));
    const stops = new Map(stored.map((row) => [Number(row["seq"]), toStopRequest(row)]));
    return inputs.map(({ task }) => ({ output: stops.get(task.seq) ?? null }));
  },
};

const storeStops = {
  name: "store_stops",
  text: `UPDATE task t SET stop_code = coalesce(t.stop_code, given.code),
      stop_reason = CASE WHEN t.stop_code IS NULL THEN given.reason ELSE t.stop_reason END
    FROM unnest($1::bigint[], $2::text[], $3::text[]) AS given (seq, code, reason) WHERE t.seq = given.seq
    RETURNING t.seq, t.stop_code AS code, t.stop_reason AS reason`,
};

/** The writes that move a task, report the spending of its run and end it, in the order in which a batch runs them. */
export const endKinds: readonly AnyKind[] = [
  moveOperation,
  reportUsageOperation,
  meterOperation,
  reportAttemptsOperation,
  stopOperation,
  finishOperation,
  postponeOperation,
  requeueOperation,
];
