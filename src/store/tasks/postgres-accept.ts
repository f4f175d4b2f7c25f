import { BridgeError } from "../../errors.ts";
import type { Task } from "../../task.ts";
import type { LimitsAt } from "../budgets/interface.ts";
import { insertReservations, openStartLedger, type StartLedger, toNeeds } from "../budgets/postgres-reservations.ts";
import { toUnstarted } from "../budgets/rows.ts";
import { toColumnText } from "../column-text.ts";
import type { Row, Value } from "../engines/postgres/connection.ts";
import type { OperationKind, Outcome, Transaction } from "../engines/postgres/operation-kind.ts";
import { toColumns as toColumnArrays } from "../engines/postgres/statements.ts";
import type { InsertOptions, NewTask } from "./interface.ts";
import { countRunning, isSessionBusy, lockAgent } from "./postgres-starts.ts";
import {
  encodeBudgets,
  labelColumns,
  taskColumns,
  toInsertedTask,
  toLabelRows,
  toNewSummary,
  toRequestColumns,
  toStartEvent,
  toTask,
} from "./rows.ts";

/** A task to accept: queued, or started on this node. */
interface Accept extends InsertOptions {
  task: NewTask;
  /** The id of this node. */
  node: string;
  /** Names of the budgets in which a start reserves. */
  budgets: readonly string[];
  limitsAt: LimitsAt;
}

/** The task with this id, and whether this operation has inserted it. */
interface Accepted {
  task: Task;
  inserted: boolean;
}

/** Inserts tasks, queued or started with their first event, or finds the tasks that already have their ids. */
export const acceptOperation: OperationKind<Accept, Accepted> = {
  name: "accept",
  keyOf: ({ task }) => keyOf(task),
  isRepeatable: false,
  startsTask: ({ starts, task }) => starts || task.parent !== null,
  limitedTenantOf: (input) => (isLimited(input) ? input.task.tenant : null),
  budgetsOf: ({ budgets }) => budgets,
  // With limits, it counts running tasks first. A claim must see what tasks ask of budgets, which is stored after them.
  overlaps: (inputs) => !inputs.some((input) => isLimited(input) || input.task.asks !== undefined),
  async run(inputs, transaction) {
    // A node that has been declared dead would leave the child in the queue, because the other nodes have already ended its tasks.
    if (!transaction.isMember && inputs.some(({ task }) => task.parent !== null))
      throw new BridgeError("storage_unavailable", "The node of the parent task was declared dead.");
    const limits = lockedLimits(inputs, transaction);
    // Nothing is awaited without budgets: the kinds overlap then, and a claim of the same batch must not be sent before the insert.
    const ledger = limits.length === 0 ? null : await openStartLedger(limits, transaction);
    const inserted = toMap(await insert(inputs, ledger, transaction));
    const labels = inputs.flatMap(({ task }) => {
      const row = inserted.get(keyOf(task));
      return row === undefined ? [] : toLabelRows(task, Number(row["seq"]));
    });
    await storeReservations(inputs, { inserted, ledger }, transaction);
    if (labels.length > 0) await transaction.query(insertLabels, toColumnArrays(labelColumns, labels));
    const others = inputs.filter(({ task }) => !inserted.has(keyOf(task)));
    const found = others.length === 0 ? new Map<string, Row>() : toMap(await findTasks(others, transaction));
    return inputs.map(({ task }) => toOutcome(task, inserted, found));
  },
};

/** The identity of a task for callers. No tenant contains a line break. */
const keyOf = ({ tenant, taskId }: Pick<NewTask, "tenant" | "taskId">): string => `${tenant}\n${taskId}`;

const toMap = (rows: readonly Row[]): Map<string, Row> =>
  new Map(rows.map((row) => [keyOf({ tenant: String(row["tenant"]), taskId: String(row["id"]) }), row]));

/** The budgets that the batch has locked. */
function lockedLimits(inputs: readonly Accept[], { now }: Transaction): ReturnType<LimitsAt> {
  const locked = new Set(inputs.flatMap(({ budgets }) => budgets));
  const limits = locked.size === 0 ? [] : (inputs[0]?.limitsAt(now) ?? []);
  return limits.filter(({ name }) => locked.has(name));
}

/** Stores what the inserted tasks ask of budgets. Those that run reserve it. */
async function storeReservations(
  inputs: readonly Accept[],
  { inserted, ledger }: { inserted: ReadonlyMap<string, Row>; ledger: StartLedger | null },
  transaction: Transaction,
): Promise<void> {
  const held = inputs.flatMap(({ task }) => {
    const row = inserted.get(keyOf(task));
    if (row === undefined || task.asks === undefined) return [];
    const asked = toUnstarted(task.asks);
    const reservations = ledger !== null && row["state"] === "running" ? ledger.reserveNew(asked) : asked;
    return reservations.map((reservation) => ({ task: Number(row["seq"]), reservation }));
  });
  await insertReservations(held, transaction);
  await ledger?.store();
}

/** Sends both inserts at once, first of all unless there are limits. The second one sees the places of the first one and of other nodes. */
async function insert(inputs: readonly Accept[], ledger: StartLedger | null, transaction: Transaction): Promise<readonly Row[]> {
  const able = inputs.filter((input) => isAble(input, transaction));
  const permitted = able.some(isLimited) ? await selectWithinLimits(able, transaction) : able;
  const starting = ledger === null ? permitted : selectWithinBudgets(permitted, ledger.copy());
  const [, rows] = await Promise.all([
    starting.length === 0 ? null : transaction.query(placeAgents, toPlaceColumns(starting, transaction)),
    transaction.query(insertTasks, [...toColumns(inputs, new Set(starting)), transaction.now, inputs[0]?.node ?? null, Date.now()]),
  ]);
  return rows;
}

/** Children do not count, because their parent does. */
const isLimited = ({ task, starts, limits }: Accept): boolean => starts && limits !== undefined && task.parent === null;

/** Whether this node may start the task, as far as it depends on the node. */
const isAble = ({ task, starts }: Accept, { isMember, tags }: Transaction): boolean =>
  starts && isMember && task.needs.every((tag) => tags.includes(tag));

/** The tasks for which budgets have room together. Children wait for no budget, because their parent holds a slot meanwhile. */
const selectWithinBudgets = (permitted: readonly Accept[], ledger: StartLedger): Accept[] =>
  permitted.filter(({ task }) => {
    const asked = toUnstarted(task.asks ?? []);
    if (task.parent === null && !ledger.haveRoom(asked)) return false;
    ledger.reserveNew(asked);
    return true;
  });

/** The tasks that may start within the limits of their tenants. */
async function selectWithinLimits(able: readonly Accept[], transaction: Transaction): Promise<readonly Accept[]> {
  const running = await countRunning(
    able.filter(isLimited).map(({ task }) => task.tenant),
    transaction,
  );
  return able.filter((input) => {
    if (!isLimited(input) || input.limits === undefined) return true;
    const { tenant, agentId } = input.task;
    if (!running.mayStart(tenant, agentId, input.limits)) return false;
    running.addStart(tenant, agentId);
    return true;
  });
}

const toPlaceColumns = (inputs: readonly Accept[], { now }: Transaction): Value[] => [
  inputs.map(({ task }) => task.tenant),
  inputs.map(({ task }) => task.taskId),
  inputs.map(({ task }) => task.agentId),
  inputs[0]?.node ?? null,
  now,
];

/** An agent that lives nowhere lives on this node from its first start on. A repeated task starts nothing. */
const placeAgents = {
  name: "place_agents",
  text: `INSERT INTO place (tenant, agent_id, node, since)
    SELECT DISTINCT g.tenant, g.agent_id, $4, $5::bigint FROM unnest($1::text[], $2::text[], $3::text[]) AS g (tenant, id, agent_id)
    WHERE NOT EXISTS (SELECT 1 FROM place p WHERE p.tenant = g.tenant AND p.agent_id = g.agent_id)
      AND NOT EXISTS (SELECT 1 FROM task t WHERE t.tenant = g.tenant AND t.id = g.id) AND ${lockAgent("g.tenant", "g.agent_id")}
    ON CONFLICT DO NOTHING`,
};

const insertLabels = {
  name: "insert_labels",
  text: `INSERT INTO task_label (${labelColumns.join(", ")}) SELECT * FROM unnest($1::bigint[], $2::text[], $3::text[], $4::text[])`,
};

const columns = [
  "tenant",
  "id",
  "parent_seq",
  "parent_id",
  "agent_id",
  "provider",
  "metadata",
  "request",
  "fingerprint",
  "traceparent",
  "tracestate",
  "resume_token",
  "title",
  "model",
  "callback_url",
  "budgets",
  "budget_needs",
] as const;
const numbers: ReadonlySet<string> = new Set(["parent_seq"]);
const names = columns.join(", ");
const arrays = columns.map((name, index) => `$${index + 1}::${numbers.has(name) ? "bigint" : "text"}[]`).join(", ");
const [needsAt, startsAt, nowAt, nodeAt, localAt] = [1, 2, 3, 4, 5].map((offset) => columns.length + offset);

/**
 * A child belongs to the node of its parent, and a dispatched task to the node of its agent, if the agent has one. A conflict on a resume
 * token is not ignored, so that the operation fails instead of finding no task.
 */
const insertTasks = {
  name: "insert_tasks",
  text: `WITH given AS (
      SELECT g.*, CASE WHEN g.parent_seq IS NULL THEN p.node ELSE coalesce(parent.node, $${nodeAt}) END AS node
      FROM unnest(${arrays}, $${needsAt}::text[], $${startsAt}::bigint[]) WITH ORDINALITY AS g (${names}, needs, starts, position)
      LEFT JOIN place p ON p.tenant = g.tenant AND p.agent_id = g.agent_id
      LEFT JOIN task parent ON parent.seq = g.parent_seq),
    settled AS (SELECT g.*, g.starts = 1 AND g.node IS NOT DISTINCT FROM $${nodeAt} AND NOT (${isSessionBusy("g")}) AS runs FROM given g)
    INSERT INTO task (${names}, needs, node, state, started_at, ran_from, created_at)
    SELECT ${names}, needs::text[], node, CASE WHEN runs THEN 'running' ELSE 'queued' END, CASE WHEN runs THEN $${nowAt}::bigint END,
      CASE WHEN runs THEN $${localAt}::bigint END, $${nowAt}::bigint
    FROM settled ORDER BY position ON CONFLICT (tenant, id) DO NOTHING
    RETURNING tenant, id, seq, state, node, created_at, started_at`,
};

function toColumns(inputs: readonly Accept[], starting: ReadonlySet<Accept>): Value[] {
  const rows = inputs.map((input) => {
    const { task } = input;
    const { resumeToken } = task.request;
    return {
      tenant: task.tenant,
      id: task.taskId,
      parent_seq: task.parent?.seq ?? null,
      parent_id: task.parent?.taskId ?? null,
      agent_id: task.agentId,
      provider: task.provider,
      ...toRequestColumns(task),
      ...toNewSummary(task),
      fingerprint: task.fingerprint,
      traceparent: task.traceparent,
      tracestate: task.tracestate,
      budgets: encodeBudgets(task.asks),
      // Children wait for no budget.
      budget_needs: toNeeds(toUnstarted(task.parent === null ? (task.asks ?? []) : [])),
      resume_token: resumeToken === undefined ? null : toColumnText(resumeToken),
      needs: toArrayLiteral(task.needs),
      starts: starting.has(input) ? 1 : 0,
    };
  });
  return [...columns, "needs" as const, "starts" as const].map((name) => rows.map((row) => row[name]));
}

/** An array inside of an array of parameters, whose members have different lengths. */
const toArrayLiteral = (texts: readonly string[]): string => `{${texts.map((text) => JSON.stringify(text)).join(",")}}`;

const selectTasks = {
  name: "select_tasks",
  text: `SELECT ${taskColumns} FROM unnest($1::text[], $2::text[]) AS given (given_tenant, given_id)
    JOIN task ON tenant = given_tenant AND id = given_id`,
};

const findTasks = (inputs: readonly Accept[], transaction: Transaction): Promise<readonly Row[]> =>
  transaction.query(selectTasks, [inputs.map(({ task }) => task.tenant), inputs.map(({ task }) => task.taskId)]);

function toOutcome(given: NewTask, inserted: ReadonlyMap<string, Row>, found: ReadonlyMap<string, Row>): Outcome<Accepted> {
  const row = inserted.get(keyOf(given));
  if (row === undefined) {
    const existing = found.get(keyOf(given));
    if (existing === undefined) throw new Error("A task was deleted while it was accepted again.");
    return { output: { task: toTask(existing), inserted: false } };
  }
  const task = toInsertedTask(given, {
    seq: Number(row["seq"]),
    state: row["state"] as "queued" | "running",
    node: row["node"] as string | null,
    createdAt: Number(row["created_at"]),
    startedAt: row["started_at"] as number | null,
  });
  return { output: { task, inserted: true }, events: task.state === "running" ? [{ task, ...toStartEvent(task) }] : [] };
}
