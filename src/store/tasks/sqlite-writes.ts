import { type ExecutionResult, stringifyWellFormed } from "#contract";
import type { StopRequest, Task, TaskIdentity, TaskRun } from "../../task.ts";
import type { createApprovalOperations } from "../approvals/sqlite.ts";
import type { BudgetStore } from "../budgets/interface.ts";
import { encodeNeeds, toAmounts, toRunTotal, toUnstarted } from "../budgets/rows.ts";
import type { createBudgetOperations } from "../budgets/sqlite.ts";
import { toColumnText } from "../column-text.ts";
import type { Row, SqliteDriver } from "../engines/sqlite/driver.ts";
import { type createEventOperations, selectRun } from "../events/sqlite.ts";
import type { DueCallback } from "../posts/interface.ts";
import type { createCallbackOperations } from "../posts/sqlite-callbacks.ts";
import type { createUsageOperations } from "../usage/sqlite.ts";
import { encodeGaps } from "./gapped-json.ts";
import type { Finish, NewTask, TaskStore } from "./interface.ts";
import {
  REQUEUE_REASON,
  toEndedSummary,
  toInsertedTask,
  toLabelRows,
  toNewSummary,
  toRequestColumns,
  toStartEvent,
  toStopRequest,
  toTask,
} from "./rows.ts";
import { claimSql } from "./sqlite-claim.ts";
import { createWaits, hasStartedBefore, updateSpent } from "./sqlite-waits.ts";

/** The other parts of the store that task operations use. */
interface Dependencies {
  events: ReturnType<typeof createEventOperations>;
  approvals: ReturnType<typeof createApprovalOperations>;
  callbacks: Pick<ReturnType<typeof createCallbackOperations>, "insert" | "announce">;
  usage: Pick<ReturnType<typeof createUsageOperations>, "add">;
  budgets: ReturnType<typeof createBudgetOperations>;
  clock: () => number;
}

/** A task that an operation has ended, and its new callback. */
interface EndedTask {
  task: Task;
  callback: DueCallback | null;
}

/** The writes that change the state of a task. Each guard is part of the SQL statement. */
export function createTaskWrites(driver: SqliteDriver, { events, approvals, callbacks, usage, budgets, clock }: Dependencies) {
  const findRow = (tenant: string, taskId: string): Row | undefined =>
    driver.get("SELECT * FROM task WHERE tenant = ? AND id = ?", tenant, taskId);

  const appendStart = (task: Task, at: number): void => events.append(task, toStartEvent(task), at);

  function finishIf(state: "queued" | "running", task: Task, finish: Finish): EndedTask | null {
    const now = clock();
    const { json, gaps } = finish.storedResult ?? { json: JSON.stringify(finish.result), gaps: [] };
    const update = "UPDATE task SET state = ?, finished_at = ?, result = ?, result_gaps = ? WHERE seq = ? AND state = ? AND restarts = ?";
    if (driver.run(update, finish.state, now, json, encodeGaps(gaps), task.seq, state, task.restarts) === 0) return null;
    keepSummary(driver, task.seq, finish.result);
    if (state === "queued" && task.restarts === 0 && !hasStartedBefore(driver, task)) appendStart(task, now);
    approvals.rejectAll(task, finish.result.error ?? "The task has ended.", now);
    for (const warning of budgets.reservations.settle(task, toRunTotal(finish))) events.append(task, warning, now);
    events.append(task, finish.event, now);
    const callback = finish.callback === null ? null : callbacks.insert(task, finish.callback(now), { now, resultJson: json });
    if (finish.result.resumeToken !== undefined) insertResumeToken(driver, task, finish.result.resumeToken, now);
    usage.add({ task, from: state, finish, now });
    return { task: { ...task, state: finish.state, finishedAt: now, result: finish.result }, callback };
  }

  async function end(state: "queued" | "running", task: Task, finish: Finish, patient: boolean): Promise<Task | null> {
    const ended = await driver.write(() => finishIf(state, task, finish), { patient });
    if (ended === null) return null;
    approvals.forget(task);
    budgets.announceEnd(task);
    if (ended.callback !== null) callbacks.announce(ended.callback);
    return ended.task;
  }

  return {
    insertTaskIfAbsent(task, options = { starts: false }) {
      const { asks = [] } = task;
      const { request, metadata } = toRequestColumns(task);
      // A large insert ends its commit, so that a task that waits reads its request again in a later event-loop turn.
      const bytes = request.length + (metadata?.length ?? 0);
      return driver.write(
        () => {
          // Not left to ON CONFLICT, because an ignored insert also takes a number, which is a write.
          const known = findRow(task.tenant, task.taskId);
          if (known !== undefined) return { task: toTask(known), inserted: false };
          const now = clock();
          const ledger = options.starts && asks.length > 0 ? budgets.reservations.openLedger(now, { isLimited: true }) : null;
          // Children wait for no budget, because their parent holds a slot meanwhile.
          const starts = options.starts && (task.parent !== null || (ledger?.haveRoom(asks) ?? true));
          const seq = insertTask(driver, task, { request, metadata, starts, now });
          budgets.reservations.insert(seq, asks, starts ? ledger : null);
          const start = starts ? ({ state: "running", startedAt: now } as const) : ({ state: "queued", startedAt: null } as const);
          const stored = toInsertedTask(task, { seq, node: null, createdAt: now, ...start });
          if (starts) appendStart(stored, now);
          return { task: stored, inserted: true };
        },
        { bytes },
      );
    },
    startNextTaskIfQueued: (filter) =>
      driver.write(
        () => {
          const now = clock();
          const ledger = budgets.reservations.openLedger(now);
          // Children wait for no budget, because their parent holds a slot meanwhile.
          const { sql, parameters } = claimSql(filter, filter.kind === "child" ? null : ledger.findLargestAsks(filter), now);
          const row = driver.get(sql, ...parameters);
          if (row === undefined) return null;
          const task = toTask(row);
          ledger.reserve(task);
          if (!hasStartedBefore(driver, task)) appendStart(task, now);
          return task;
        },
        { patient: true },
      ),
    ...createUsageReports(driver, { events, budgets }),
    ...createWaits(driver, { events, approvals, budgets, clock }),
    async requeueTaskIfRunning(task) {
      const isRequeued = await driver.write(
        () => {
          const update = `UPDATE task SET state = 'queued', started_at = NULL, restarts = 1
            WHERE seq = ? AND state = 'running' AND restarts = 0 AND NOT EXISTS (SELECT 1 FROM stop_request r WHERE r.task = seq)`;
          if (driver.run(update, task.seq) === 0) return false;
          approvals.rejectAll(task, REQUEUE_REASON, clock());
          for (const warning of budgets.reservations.release(task)) events.append(task, warning);
          return true;
        },
        { patient: true },
      );
      if (isRequeued) {
        events.toolCalls.forget(task);
        budgets.announceEnd(task, { isQueued: true });
      }
      return isRequeued;
    },
    moveTaskIfQueued: (task, to) => driver.write(() => driver.run(moveTask, ...toMove(task, to)) > 0, { patient: true }),
    finishTaskIfQueued: (task, finish, { patient } = { patient: true }) => end("queued", task, finish, patient),
    finishTaskIfRunning: (task, finish) => end("running", task, finish, true),
  } satisfies Partial<TaskStore>;
}

const moveTask = "UPDATE task SET provider = ?, request = ? WHERE seq = ? AND state = 'queued' AND provider = ? AND restarts = ?";

const toMove = ({ seq, provider, restarts }: TaskRun, to: Pick<Task, "provider" | "request">): (string | number)[] => [
  to.provider,
  toRequestColumns(to).request,
  seq,
  provider,
  restarts,
];

/** The reports of what running tasks have spent, and of their attempts. */
function createUsageReports(driver: SqliteDriver, { events, budgets }: Pick<Dependencies, "events" | "budgets">) {
  return {
    async reportUsageIfRunning(task, { spent, event }) {
      const outcome = await driver.write(
        () => {
          if (driver.get(selectRun, task.seq, task.restarts) === undefined) return null;
          driver.run(...updateSpent(task, spent));
          events.append(task, event);
          const metered = budgets.reservations.meter(task, toAmounts(spent));
          for (const warning of metered.events) events.append(task, warning);
          return metered;
        },
        { lazy: true, patient: true },
      );
      if (outcome !== null && outcome.reached !== null) budgets.announceReached(task, outcome.reached);
      return outcome !== null;
    },
    async meterIfRunning(task, spent) {
      if (!budgets.reservations.isLimited(task)) return;
      const { reached } = await driver.write(
        () => {
          if (driver.get(selectRun, task.seq, task.restarts) === undefined) return { reached: null };
          const metered = budgets.reservations.meter(task, toAmounts(spent));
          for (const warning of metered.events) events.append(task, warning);
          return metered;
        },
        { lazy: true, patient: true },
      );
      if (reached !== null) budgets.announceReached(task, reached);
    },
    reportAttemptsIfRunning: (task, { attempts, events: reported }) =>
      driver.write(
        () => {
          if (driver.get(selectRun, task.seq, task.restarts) === undefined) return false;
          driver.run("UPDATE task_summary SET attempts = ? WHERE task = ?", stringifyWellFormed(attempts), task.seq);
          for (const event of reported) events.append(task, event);
          return true;
        },
        { lazy: true, patient: true },
      ),
  } satisfies Partial<TaskStore & BudgetStore>;
}

/** Inserts the rows of a new task. Returns its number. */
function insertTask(
  driver: SqliteDriver,
  task: NewTask,
  { request, metadata, starts, now }: ReturnType<typeof toRequestColumns> & { starts: boolean; now: number },
): number {
  const inserted = driver.get(
    `INSERT INTO task (tenant, id, parent_seq, parent_id, agent_id, provider, metadata, request, fingerprint, traceparent, tracestate, resume_token, created_at, state, started_at, budget_needs)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING seq`,
    task.tenant,
    task.taskId,
    task.parent?.seq ?? null,
    task.parent?.taskId ?? null,
    task.agentId,
    task.provider,
    metadata,
    request,
    task.fingerprint,
    task.traceparent,
    task.tracestate,
    task.request.resumeToken === undefined ? null : toColumnText(task.request.resumeToken),
    now,
    starts ? "running" : "queued",
    starts ? now : null,
    // Children wait for no budget.
    task.parent === null ? encodeNeeds(toUnstarted(task.asks ?? [])) : encodeNeeds([]),
  );
  const { title, model, callback_url } = toNewSummary(task);
  driver.run(
    "INSERT INTO task_summary (task, title, model, callback_url) VALUES (?, ?, ?, ?)",
    inserted?.["seq"] ?? null,
    title,
    model,
    callback_url,
  );
  for (const { name, value } of toLabelRows(task, Number(inserted?.["seq"])))
    driver.run(
      "INSERT INTO task_label (task, tenant, name, value) VALUES (?, ?, ?, ?)",
      inserted?.["seq"] ?? null,
      task.tenant,
      name,
      value,
    );
  return Number(inserted?.["seq"]);
}

/** Stores what a result adds to the summary of its task. */
function keepSummary(driver: SqliteDriver, seq: number, result: ExecutionResult): void {
  const { model, cost_usd, cost_source, usage: tokens, error_code, attempts } = toEndedSummary(result);
  driver.run(
    `INSERT INTO task_summary (task, model, cost_usd, cost_source, usage, error_code, attempts) VALUES (?, ?, ?, ?, ?, ?, ?)
     ON CONFLICT (task) DO UPDATE SET model = coalesce(excluded.model, model), cost_usd = excluded.cost_usd,
       cost_source = excluded.cost_source, usage = excluded.usage, error_code = excluded.error_code, attempts = excluded.attempts`,
    ...[seq, model, cost_usd, cost_source, tokens, error_code, attempts],
  );
}

/** Creates the operations of stop requests. The process that runs a task receives them, and ends the task. */
export function createStopOperations(driver: SqliteDriver) {
  let announce: (task: TaskIdentity, stop: StopRequest) => void = () => {};

  return {
    async requestStopIfRunning(task, { code, reason }) {
      const stop = await driver.write(() => {
        if (driver.get("SELECT 1 AS running FROM task WHERE seq = ? AND state = 'running'", task.seq) === undefined) return null;
        driver.run(
          "INSERT INTO stop_request (task, code, reason) VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
          task.seq,
          code,
          toColumnText(reason),
        );
        return toStopRequest(driver.get("SELECT code, reason FROM stop_request WHERE task = ?", task.seq) as Row);
      });
      if (stop !== null) announce(task, stop);
      return stop !== null;
    },
    onStopRequests(listener) {
      announce = listener;
    },
  } satisfies Partial<TaskStore>;
}

/** Stores a resume token inside the operation that ends its task. */
function insertResumeToken(driver: SqliteDriver, { tenant, provider, agentId }: Task, token: string, now: number): void {
  driver.run(
    `INSERT INTO resume_token (tenant, provider, agent_id, token, used_at) VALUES (?, ?, ?, ?, ?)
     ON CONFLICT (tenant, provider, agent_id, token) DO UPDATE SET used_at = excluded.used_at`,
    tenant,
    provider,
    agentId,
    toColumnText(token),
    now,
  );
}
