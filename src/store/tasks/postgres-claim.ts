import type { Task } from "../../task.ts";
import type { LimitsAt } from "../budgets/interface.ts";
import { allowedBy, fitsByRows, fitsNeeds, type LargestAsks, openStartLedger, type StartLedger } from "../budgets/postgres-reservations.ts";
import type { Row } from "../engines/postgres/connection.ts";
import type { OperationKind, Outcome, Transaction } from "../engines/postgres/operation-kind.ts";
import type { ClaimFilter } from "./interface.ts";
import { countRunning, isSessionBusy, lockAgent, type RunningCounts } from "./postgres-starts.ts";
import { taskColumns, toStartEvent, toTask } from "./rows.ts";

/** The start of the next queued task on a node. */
export interface Claim extends ClaimFilter {
  node: string;
  /** Names of the budgets that can hold tasks back. */
  budgets: readonly string[];
  limitsAt: LimitsAt;
}

/** What a claim has found. */
export interface Claimed {
  /** The task that it has started; null if there is none. */
  task: Task | null;
  /** The claim to run next, if the agent of the oldest task lives on another node; null if no task is left to try. */
  next: Claim | null;
}

/** Maximum tasks that one claim binds to the nodes of their agents. */
const MAX_BOUND = 500;
/** Maximum claims that one statement answers. */
const MAX_MERGED = 50;

/**
 * Starts queued tasks, each the oldest one that its filter allows. A task that another transaction has locked is passed over, because it is
 * being started or ended. The first start of a task of an agent gives the agent its place. A task whose agent lives on another node is
 * bound to that node.
 */
export const claimOperation: OperationKind<Claim, Claimed> = {
  name: "claim",
  keyOf: () => null,
  isRepeatable: true,
  startsTask: () => true,
  limitedTenantOf: ({ tenant, limits }) => (limits === undefined ? null : tenant),
  budgetsOf: ({ budgets }) => budgets,
  async run(inputs, transaction) {
    // One statement after the other, because each one sees what the earlier ones have started. All without a limit and a budget are sent at
    // once.
    const outcomes = inputs.map(() => NOTHING);
    await Promise.all(
      mergeEqual(inputs).map(async (indexes) => {
        const claimed = await claim(
          indexes.map((index) => inputs[index] as Claim),
          transaction,
        );
        for (const [position, index] of indexes.entries()) outcomes[index] = claimed[position] as Outcome<Claimed>;
      }),
    );
    const limited = [...inputs.entries()].filter(([, input]) => isLimited(input));
    if (limited.length === 0) return outcomes;
    const running = await countRunning(
      limited.flatMap(([, { tenant, limits }]) => (limits === undefined ? [] : [tenant])),
      transaction,
    );
    const ledger = await openLedger(
      limited.map(([, input]) => input),
      transaction,
    );
    for (const [index, input] of limited) outcomes[index] = await claimWithinLimits(input, { running, ledger }, transaction);
    await ledger.store();
    return outcomes;
  },
};

/** Whether the claim is limited by running tasks or by budgets. */
const isLimited = ({ limits, budgets }: Claim): boolean => limits !== undefined || budgets.length > 0;

/** Opens the budgets that the batch has locked. */
function openLedger(inputs: readonly Claim[], transaction: Transaction): Promise<StartLedger> {
  const locked = new Set(inputs.flatMap(({ budgets }) => budgets));
  const limitsAt = inputs[0]?.limitsAt ?? (() => []);
  return openStartLedger(
    limitsAt(transaction.now).filter(({ name }) => locked.has(name)),
    transaction,
  );
}

const NOTHING: Outcome<Claimed> = { output: { task: null, next: null } };

/**
 * The indexes of claims that one statement answers: equal ones of dispatched tasks, without limits and budgets. Each start of a child
 * changes whose turn it is.
 */
function mergeEqual(inputs: readonly Claim[]): number[][] {
  const groups = new Map<string, number[]>();
  for (const [index, input] of inputs.entries()) {
    const { provider, tenant, kind, exceptAgents } = input;
    if (isLimited(input)) continue;
    const key = kind === "child" ? String(index) : JSON.stringify([provider, tenant, exceptAgents]);
    groups.set(key, [...(groups.get(key) ?? []), index]);
  }
  return [...groups.values()].flatMap((group) =>
    Array.from({ length: Math.ceil(group.length / MAX_MERGED) }, (_, part) => group.slice(part * MAX_MERGED, (part + 1) * MAX_MERGED)),
  );
}

async function claimWithinLimits(
  input: Claim,
  { running, ledger }: { running: RunningCounts; ledger: StartLedger },
  transaction: Transaction,
): Promise<Outcome<Claimed>> {
  const { tenant, limits, exceptAgents, kind } = input;
  if (limits !== undefined && !running.mayStart(tenant, null, limits)) return NOTHING;
  const agents = limits === undefined ? exceptAgents : [...exceptAgents, ...running.agentsAtLimit(tenant, limits)];
  // Children wait for no budget, because their parent holds a slot meanwhile.
  const asks = kind === "child" ? null : ledger.findLargestAsks(input);
  const [outcome = NOTHING] = await claim([{ ...input, exceptAgents: agents }], transaction, asks);
  const { task } = outcome.output;
  if (task === null) return outcome;
  running.addStart(tenant, task.agentId);
  if (task.budgets !== undefined) await ledger.reserve(task.seq);
  return outcome;
}

/** Runs equal claims. `asks`: the largest asks of budgets that hold tasks back. Returns one outcome for each. */
async function claim(inputs: readonly Claim[], transaction: Transaction, asks: LargestAsks | null = null): Promise<Outcome<Claimed>[]> {
  const [input] = inputs;
  if (input === undefined || !transaction.isMember) return inputs.map(() => NOTHING);
  const { provider, tenant, kind, exceptAgents, node } = input;
  const values = [provider, tenant, exceptAgents, node, transaction.now, transaction.tags, Date.now(), inputs.length];
  const dispatched = asks === null ? claimDispatched : claimDispatchedInBudgets;
  const candidates = await transaction.query(kind === "child" ? claimChild : dispatched, [...values, ...(asks ?? [])]);
  const rows = [...candidates.filter(isStarted), ...candidates.filter((row) => !isStarted(row))];
  const [firstBound] = rows.filter(({ state }) => state === "queued");
  if (firstBound !== undefined) await transaction.query(bindTasks, [provider, tenant, node, Number(firstBound["seq"]), MAX_BOUND]);
  return inputs.map((one, index) => toOutcome(one, rows[index], transaction));
}

const isStarted = (row: Row): boolean => row["state"] === "running";

function toOutcome(input: Claim, row: Row | undefined, transaction: Transaction): Outcome<Claimed> {
  if (row === undefined) return NOTHING;
  if (isStarted(row)) return toStart(row, transaction);
  // The task was bound to the node of its agent, or an earlier task of the statement uses its session.
  if (row["state"] === "queued" || row["is_session_taken"] === true) return { output: { task: null, next: input } };
  // Another transaction is about to give the agent a place.
  const exceptAgents = [...input.exceptAgents, String(row["candidate_agent"])];
  return { output: { task: null, next: { ...input, exceptAgents } } };
}

function toStart(row: Row, transaction: Transaction): Outcome<Claimed> {
  const task = toTask(row);
  const stored = transaction.lockedTask(task.seq);
  if (stored !== undefined) stored.state = "running";
  // The start of a task that was returned to the queue is in the log already.
  const start = row["start_after"] === null ? [{ task, ...toStartEvent(task) }] : [];
  return { output: { task, next: null }, events: start };
}

const kindOfTask = (task: string): string => `CASE WHEN ${task}.parent_seq IS NULL THEN 'dispatched' ELSE 'child' END`;

/**
 * Queued tasks of one place whose tags this node has. The tags are compared here, because a claim would otherwise look up each task of a
 * long queue by its number.
 */
const queuedAt = (place: string): string =>
  `SELECT q.seq, q.parent_seq, q.budgets, q.budget_needs FROM task q
   WHERE q.state = 'queued' AND q.provider = $1 AND q.tenant = $2 AND coalesce(q.node, '') = ${place}
     AND q.agent_id <> ALL ($3::text[]) AND q.needs <@ $6::text[] AND NOT (${isSessionBusy("q")})
     AND (q.start_after IS NULL OR q.start_after <= $5::bigint)`;

/** The queued tasks of a kind that this node may start, in the order of the index for each place. */
const queuedOf = (kind: ClaimFilter["kind"]): string =>
  ["$4", "''"].map((place) => `(${queuedAt(place)} AND ${kindOfTask("q")} = '${kind}' ORDER BY q.seq)`).join(" UNION ALL ");

/**
 * `next` is the oldest tasks that this node may start, as far as the tasks show. Conditions on `t` repeat those on `q` that can change:
 * PostgreSQL checks them again if the task was changed meanwhile. MATERIALIZED, because otherwise the planner may run the query once per
 * row, and start more tasks than one.
 *
 * A dispatched task starts if its agent lives here: by an earlier start, or by this one. `placed` is empty if another node has stored a
 * place after the beginning of the statement, which the statement does not see. Then it changes nothing, and the next claim does. A child
 * belongs to the node of its parent, wherever its agent lives.
 */
const claimInOrder = (kind: ClaimFilter["kind"], turn: string, { tables = "", waiting = queuedOf(kind) } = {}): string => {
  const startsHere = kind === "child" ? "true" : "(home.place = $4 OR home.agent_id IN (SELECT agent_id FROM placed))";
  return `WITH ${tables} next AS MATERIALIZED (
     SELECT t.seq, t.tenant, t.agent_id, t.resume_token
     FROM (${waiting}) AS waiting
     JOIN task t ON t.seq = waiting.seq AND t.state = 'queued' AND (t.node = $4 OR t.node IS NULL) AND t.needs <@ $6::text[] ${turn}
     LIMIT $8::bigint FOR NO KEY UPDATE OF t SKIP LOCKED),
   home AS MATERIALIZED (
     SELECT next.*, p.node AS place, EXISTS (
       SELECT 1 FROM next AS earlier
       WHERE earlier.seq < next.seq AND earlier.agent_id = next.agent_id AND earlier.resume_token = next.resume_token) AS is_session_taken
     FROM next LEFT JOIN place p ON p.tenant = next.tenant AND p.agent_id = next.agent_id),
   placed AS (
     INSERT INTO place (tenant, agent_id, node, since)
     SELECT tenant, agent_id, $4, $5::bigint FROM home WHERE place IS NULL AND ${lockAgent("tenant", "agent_id")}
     ON CONFLICT DO NOTHING RETURNING agent_id),
   changed AS (
     UPDATE task SET state = CASE WHEN ${startsHere} THEN 'running' ELSE task.state END, node = CASE WHEN ${startsHere} THEN $4 ELSE home.place END,
       started_at = CASE WHEN ${startsHere} THEN $5::bigint END, ran_from = CASE WHEN ${startsHere} THEN $7::bigint END
     FROM home WHERE task.seq = home.seq AND NOT home.is_session_taken AND (${startsHere} OR home.place IS NOT NULL)
     RETURNING ${taskColumns.replaceAll(/\w+/g, "task.$&")}, task.start_after)
   SELECT home.agent_id AS candidate_agent, home.is_session_taken, changed.* FROM home LEFT JOIN changed ON changed.seq = home.seq
   ORDER BY home.seq`;
};

export const claimDispatched = { name: "claim_dispatched", text: claimInOrder("dispatched", "ORDER BY waiting.seq") };

/** The oldest tasks that a claim compares with the budgets one by one. */
const MAX_HEAD = 100;
/** With more different needs than this in the queue, counted by place, a claim compares all tasks one by one. */
const MAX_NEEDS = 500;
/** The oldest tasks with the same needs that a claim tries to lock, because other transactions may have locked some. */
const MAX_EQUAL = 20;

const nextNeeds = (place: string, after = ""): string =>
  `SELECT q.budget_needs FROM task q WHERE q.state = 'queued' AND q.parent_seq IS NULL AND q.provider = $1 AND q.tenant = $2
     AND coalesce(q.node, '') = ${place} ${after} ORDER BY q.budget_needs LIMIT 1`;

const fits = `${fitsNeeds("q.budget_needs")} AND ${fitsByRows}`;

/**
 * The same for the tasks for which budgets have room. It reads three lists, each only if no task of the lists before it could be locked:
 * the oldest tasks of the queue; the oldest tasks of each value of `budget_needs` that fits, for which it reads each value once; all tasks.
 * It reads the last list if there are very many values, or if other transactions have locked all tasks that it has read of a value. So a
 * task that can start is never passed over, and the number of waiting tasks with equal needs does not matter.
 */
export const claimDispatchedInBudgets = {
  name: "claim_dispatched_in_budgets",
  // Without ORDER BY, PostgreSQL reads the lists in turn, and stops at the first task that it can lock.
  text: claimInOrder("dispatched", "", {
    tables: `RECURSIVE allowed AS MATERIALIZED (SELECT * FROM ${allowedBy(["$9", "$10", "$11"])}),
     budget_need (place, budget_needs) AS (
       SELECT given.place, (${nextNeeds("given.place")}) FROM (VALUES ($4::text), ('')) AS given (place)
       UNION ALL
       SELECT n.place, (${nextNeeds("n.place", "AND q.budget_needs > n.budget_needs")}) FROM budget_need n WHERE n.budget_needs IS NOT NULL),
     need AS MATERIALIZED (SELECT * FROM budget_need WHERE budget_needs IS NOT NULL LIMIT ${MAX_NEEDS + 1}),
     equal AS MATERIALIZED (
       SELECT equal.*, count(*) OVER (PARTITION BY need.place, need.budget_needs) AS tasks FROM need CROSS JOIN LATERAL (
         ${queuedAt("need.place")} AND q.parent_seq IS NULL AND q.budget_needs = need.budget_needs AND ${fitsByRows}
         ORDER BY q.seq LIMIT ${MAX_EQUAL}) AS equal
       WHERE ${fitsNeeds("need.budget_needs")}),`,
    waiting: `(SELECT q.seq FROM (SELECT * FROM (${queuedOf("dispatched")}) AS queued ORDER BY seq LIMIT ${MAX_HEAD}) AS q
        WHERE ${fits} ORDER BY q.seq)
       UNION ALL
       (SELECT equal.seq FROM equal WHERE (SELECT count(*) FROM need) <= ${MAX_NEEDS} ORDER BY equal.seq)
       UNION ALL
       (SELECT q.seq FROM (${queuedOf("dispatched")}) AS q
        WHERE ((SELECT count(*) FROM need) > ${MAX_NEEDS} OR EXISTS (SELECT 1 FROM equal WHERE tasks = ${MAX_EQUAL})) AND ${fits}
        ORDER BY q.seq)`,
  }),
};

/**
 * Children of the parent that has waited longest start first, so that a parent with many children does not delay the others. The count
 * decides between parents whose children have started in the same millisecond.
 */
export const claimChild = {
  name: "claim_child",
  text: claimInOrder(
    "child",
    `CROSS JOIN LATERAL (
       SELECT max(c.started_at) AS last, count(c.started_at) AS started FROM task c
       WHERE c.parent_seq = waiting.parent_seq AND c.provider = $1) AS turn
     ORDER BY turn.last NULLS FIRST, turn.started, waiting.seq`,
  ),
};

/**
 * Binds the tasks after a bound one to the nodes of their agents, so that later claims do not read them. Examines a limited number of
 * tasks, because a long queue would delay the batch.
 */
const bindTasks = {
  name: "bind_tasks",
  text: `WITH strays AS MATERIALIZED (
     SELECT t.seq, p.node FROM (
       SELECT q.seq, q.agent_id FROM task q
       WHERE q.state = 'queued' AND q.provider = $1 AND q.tenant = $2 AND ${kindOfTask("q")} = 'dispatched' AND coalesce(q.node, '') = ''
         AND q.seq > $4::bigint
       ORDER BY q.seq LIMIT $5::bigint) AS free
     JOIN place p ON p.tenant = $2 AND p.agent_id = free.agent_id AND p.node <> $3
     JOIN task t ON t.seq = free.seq AND t.state = 'queued' AND t.node IS NULL
     FOR NO KEY UPDATE OF t SKIP LOCKED)
   UPDATE task SET node = strays.node FROM strays WHERE task.seq = strays.seq`,
};
