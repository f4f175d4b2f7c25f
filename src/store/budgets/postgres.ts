import type { AnyKind } from "../engines/postgres/batch-transaction.ts";
import type { BatchWriter } from "../engines/postgres/batch-writer.ts";
import type { OperationKind, Transaction } from "../engines/postgres/operation-kind.ts";
import type { Reader } from "../engines/postgres/reader-pool.ts";
import { toColumns, toStatement } from "../engines/postgres/statements.ts";
import type { BudgetAdjustment, BudgetCounts, BudgetLimit, BudgetStore, BudgetUse } from "./interface.ts";
import { keyOf, needOf, periodsOf, selectPeriods, storePeriods } from "./postgres-reservations.ts";
import { adjust, largestAsk, type PeriodCounts, toAmounts, toCounts, toEmptyPeriod, toPeriod } from "./rows.ts";

interface Adjustment extends BudgetAdjustment {
  limit: BudgetLimit;
}

/** Replaces what is spent, in the order of the calls. */
const adjustOperation: OperationKind<Adjustment, PeriodCounts> = {
  name: "adjust_budget",
  keyOf: ({ limit }) => limit.name,
  isRepeatable: false,
  budgetsOf: ({ limit }) => [limit.name],
  async run(inputs, transaction) {
    const limits = inputs.map(({ limit }) => limit);
    const keys = [limits.map(({ name }) => name), limits.map(({ startsAt }) => startsAt)];
    const stored = new Map((await transaction.query(selectPeriods, keys)).map(toPeriod).map((period) => [keyOf(period), period]));
    const adjusted = inputs.map(({ limit, spentMicros, by, reason }) => {
      const before = stored.get(keyOf(limit)) ?? toEmptyPeriod(limit);
      const period = adjust(before, limit, spentMicros);
      const row = {
        name: limit.name,
        starts_at: limit.startsAt,
        adjusted_by: by,
        reason,
        from_micros: before.spent.micros,
        to_micros: spentMicros,
      };
      return { period, row };
    });
    await storePeriods(
      adjusted.map(({ period }) => period),
      transaction,
    );
    const rows = toColumns(
      ["name", "starts_at", "adjusted_by", "reason", "from_micros", "to_micros"],
      adjusted.map(({ row }) => row),
    );
    await transaction.query(insertAdjustments, [...rows, transaction.now]);
    return adjusted.map(({ period }) => ({ output: period }));
  },
};

const insertAdjustments = {
  name: "insert_budget_adjustments",
  text: `INSERT INTO budget_adjustment (name, starts_at, adjusted_by, reason, from_micros, to_micros, at)
    SELECT given.*, $7::bigint FROM unnest($1::text[], $2::bigint[], $3::text[], $4::text[], $5::bigint[], $6::bigint[]) AS given`,
};

/** The writes of budgets themselves. */
export const budgetKinds: readonly AnyKind[] = [adjustOperation];

/** Creates the operations of budgets. `send` reports to other nodes that a budget may have room. */
export function createBudgetOperations(reader: Reader, writer: Pick<BatchWriter, "write">, send: () => void) {
  let use: BudgetUse = { limitsAt: () => [], onReached() {}, onRoom() {} };

  function onRoom(): void {
    use.onRoom();
    send();
  }

  return {
    /** The budgets in use, and what learns of changes. */
    current: (): BudgetUse => ({ ...use, onRoom }),
    operations: {
      useBudgets(given) {
        use = given;
      },
      async adjustBudget(limit, adjustment) {
        const period = await writer.write(adjustOperation, { limit, ...adjustment });
        onRoom();
        return toCounts(period, 0);
      },
      ...createReads(reader),
    } satisfies Omit<BudgetStore, "meterIfRunning">,
  };
}

function createReads(reader: Reader) {
  return {
    async readBudgets(limits: readonly BudgetLimit[], { countsWaiting } = { countsWaiting: false }): Promise<BudgetCounts[]> {
      if (limits.length === 0) return [];
      const rows = await reader.all(
        selectCounted,
        limits.map(({ name }) => name),
        limits.map(({ startsAt }) => startsAt),
      );
      const stored = new Map(rows.map(toPeriod).map((period) => [keyOf(period), period]));
      const periods = limits.map((limit) => stored.get(keyOf(limit)) ?? toEmptyPeriod(limit));
      if (!countsWaiting) return periods.map((period) => toCounts(period, 0));
      const largest = limits.map((limit, index) => largestAsk(periods[index] as PeriodCounts, limit));
      const waiting = await reader.all(
        countHeld,
        limits.map(({ name }) => name),
        largest.map(({ micros }) => micros),
        largest.map(({ tokens }) => tokens),
      );
      const tasks = new Map(waiting.map((row) => [String(row["name"]), Number(row["tasks"])]));
      return periods.map((period) => toCounts(period, tasks.get(period.name) ?? 0));
    },
    async readRecentSpending({ tenant, agentId, provider, model }, limit) {
      const rows = await reader.all(selectRecent, tenant, agentId, MAX_EXAMINED, provider, model, limit);
      return rows.map((row) =>
        toAmounts({ costUsd: row["cost_usd"] as number | null, usage: row["usage"] === null ? null : JSON.parse(String(row["usage"])) }),
      );
    },
    listTaskBudgets: async (seq) => (await reader.all(selectNames, seq)).map(({ name }) => String(name)),
  } satisfies Partial<BudgetStore>;
}

/** Tasks of an agent that one estimate examines. */
const MAX_EXAMINED = 500;

const selectCounted = toStatement(periodsOf);

/** Queued tasks that budgets hold back. Children wait for no budget. */
const countHeld = toStatement(
  `SELECT b.name, count(*) AS tasks FROM unnest($1::text[], $2::bigint[], $3::bigint[]) AS allowed (name, micros, tokens)
   JOIN task_budget b ON b.name = allowed.name AND b.starts_at IS NULL JOIN task t ON t.seq = b.task
   WHERE t.state = 'queued' AND t.parent_seq IS NULL AND (${needOf("micros")} > allowed.micros OR ${needOf("tokens")} > allowed.tokens)
   GROUP BY b.name`,
);

const selectRecent = toStatement(
  `SELECT cost_usd, usage FROM (
     SELECT seq, provider, model, cost_usd, usage, finished_at FROM task WHERE tenant = $1 AND agent_id = $2 ORDER BY seq DESC LIMIT $3) AS examined
   WHERE provider = $4 AND finished_at IS NOT NULL AND ($5::text IS NULL OR model = $5) AND (cost_usd IS NOT NULL OR usage IS NOT NULL)
   ORDER BY seq DESC LIMIT $6`,
);

const selectNames = toStatement("SELECT name FROM task_budget WHERE task = $1 ORDER BY name");

/** Periods are kept as long as the rows of usage. */
const KEPT_MS = 400 * 86_400_000;

/** Deletes expired periods. Only one node does, which holds the lock of retention. */
export async function removeExpiredBudgets(transaction: Transaction): Promise<number> {
  return (await transaction.query(deletePeriods, [transaction.now - KEPT_MS])).length;
}

const deletePeriods = { name: "prune_budget_periods", text: "DELETE FROM budget_period WHERE ends_at < $1 RETURNING 1 AS deleted" };
