import type { ExecutionResult, TaskErrorCode } from "#contract";
import { isProbe, type Task } from "../../task.ts";
import { toColumnText } from "../column-text.ts";
import type { Finish } from "../tasks/interface.ts";
import type { StoredRow } from "../tasks/rows.ts";
import { addCounts, noCounts, type UsageCounts, type UsageDimension, type UsageSplit, type UsageSum, usageCounts } from "./interface.ts";

/** The table of each dimension, and the SQL of its key. */
export const usageSources: Readonly<Record<UsageDimension, { table: string; key: string }>> = {
  hour: { table: "usage_hour", key: "u.hour" },
  provider: { table: "usage_hour", key: "u.provider" },
  agent: { table: "usage_hour", key: "u.agent_id" },
  model: { table: "usage_hour", key: "u.model" },
  label: { table: "usage_hour_label", key: "u.name || '=' || u.value" },
};

/** The columns of `toUsageSum`, except the key. Sums are floating-point numbers, so that they cannot overflow. */
export const sumColumns = usageCounts.map((name) => `sum(CAST(u.${name} AS double precision)) AS ${name}`).join(", ");

/** The SQL of the part of a split sum. `isKept` is a condition on the key. */
export const partColumn = (by: UsageSplit, isKept: (key: string) => string): string =>
  `CASE WHEN ${isKept(usageSources[by].key)} THEN ${usageSources[by].key} ELSE '${OTHER}' END AS part`;

/** A row of sums. */
export const toUsageSum = (row: StoredRow): UsageSum => ({
  key: String(row["key"]),
  ...(typeof row["part"] === "string" && { part: row["part"] }),
  counts: Object.fromEntries(usageCounts.map((name) => [name, Number(row[name])])) as UsageCounts,
});

export const HOUR_MS = 3_600_000;

/** Rows are kept for this many hours. The longest window of a reader is 365 days. */
export const KEPT_HOURS = 400 * 24;

/** Stands for all agents, models or labels beyond the limit of an hour. No agent and no name of a label contains it. */
export const OTHER = "*";

/**
 * Maximum rows that one tenant adds to a table in one hour, because callers choose the names of agents, models and labels. Further tasks
 * are added to rows with a shorter key, at most `MAX_SHORTER_KEYS`, and then to one row.
 */
const MAX_KEYS = 200;

const MAX_SHORTER_KEYS = 50;

/** Maximum characters of a model in a key. */
const MAX_MODEL = 128;

/** Limits of one task, so that no sum overflows: a million million tokens, and a million dollars. */
const MAX_AMOUNT = 1e12;

/** Codes of tasks that end before their runtime calls a model. */
export const UNBILLED_CODES: ReadonlySet<TaskErrorCode | undefined> = new Set([
  "adapter_offline",
  "authentication_required",
  "spawn_failed",
] as const);

/** The key of a row of `usage_hour`, without the node. */
export const usageKey = ["hour", "tenant", "provider", "agent_id", "model"] as const;

/** The key of a row of `usage_hour_label`, without the node. */
export const labelUsageKey = ["hour", "tenant", "name", "value"] as const;

type UsageRow = UsageCounts & Record<(typeof usageKey)[number], string | number>;

type LabelUsageRow = UsageCounts & Record<(typeof labelUsageKey)[number], string | number>;

/** A task that ends. */
export interface TaskEnd {
  /** As it was before its end. */
  task: Task;
  from: "queued" | "running";
  finish: Finish;
  now: number;
}

/** What the tasks that end in one transaction add to the rollup. The rows are sorted and have different keys. */
export interface UsageRows {
  usage: UsageRow[];
  labels: LabelUsageRow[];
}

export type UsageRollup = ReturnType<typeof createUsageRollup>;

/** Creates the rollup of this process. It remembers the keys of the current hour, so that their number is limited. */
export function createUsageRollup() {
  let currentHour = Number.NaN;
  const known = new Map<string, Set<string>>();

  /** Returns the first of these keys, from the longest to the shortest, that is known or for which there is room. */
  function chooseKey(scope: string, keys: readonly (readonly string[])[]): readonly string[] {
    const used = known.get(scope) ?? new Set();
    known.set(scope, used);
    for (const [index, key] of keys.entries()) {
      const text = JSON.stringify(key);
      if (used.has(text)) return key;
      if (used.size >= MAX_KEYS + index * MAX_SHORTER_KEYS && index < keys.length - 1) continue;
      used.add(text);
      return key;
    }
    return [];
  }

  return {
    /** Adds up the ends of one transaction, without probes. */
    sum(ends: readonly TaskEnd[]): UsageRows {
      const usage = new Map<string, UsageRow>();
      const labels = new Map<string, LabelUsageRow>();
      for (const end of ends) {
        const { task } = end;
        if (isFreeProbe(end)) continue;
        const { tenant, agentId } = task;
        const hour = Math.floor(end.now / HOUR_MS);
        if (hour !== currentHour) known.clear();
        currentHour = hour;
        for (const { provider, model, counts } of countByAttempt(end)) {
          const [, agent_id = OTHER, shownModel = OTHER] = chooseKey(`usage ${tenant}`, [
            [provider, agentId, model],
            [provider, OTHER, model],
            [provider, OTHER, OTHER],
          ]);
          add(usage, { hour, tenant, provider, agent_id, model: shownModel, ...counts }, usageKey);
        }
        for (const [label, text] of Object.entries(task.request.labels ?? {})) {
          const wellFormed = text.toWellFormed();
          const [name = OTHER, value = OTHER] = chooseKey(`labels ${tenant}`, [
            [label, wellFormed],
            [label, OTHER],
            [OTHER, OTHER],
          ]);
          // Child tasks have no labels, so the result of their parent stands for them.
          add(labels, { hour, tenant, name, value, ...toCounts(end, { isParent: false }) }, labelUsageKey);
        }
      }
      return { usage: sorted(usage), labels: sorted(labels) };
    },
  };
}

/** What a task has used always counts. */
const isFreeProbe = ({ task, finish: { result } }: TaskEnd): boolean =>
  isProbe(task) && result.usage === undefined && (result.costUsd ?? 0) === 0;

/** Adds the counts of the row to those of the same key. */
function add<Row extends UsageCounts & Record<Key, string | number>, Key extends string>(
  rows: Map<string, Row>,
  row: Row,
  key: readonly Key[],
): void {
  const text = JSON.stringify(key.map((name) => row[name]));
  const known = rows.get(text);
  if (known === undefined) rows.set(text, row);
  else addCounts(known, row);
}

/** Sorted, because two transactions that add to the same rows in a different order would deadlock. */
const sorted = <Row>(rows: ReadonlyMap<string, Row>): Row[] => [...rows].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, row]) => row);

/**
 * What one task adds. The result of a parent repeats the usage and cost of its child tasks, and its time is the one in which they run, so a
 * parent adds none of them. A task that never started, or whose runtime called no model, used nothing. Otherwise a missing number is
 * unknown.
 */
function toCounts({ task, from, finish, now }: TaskEnd, { isParent }: { isParent: boolean }): UsageCounts {
  const { state, result } = finish;
  const { usage, costUsd }: Pick<ExecutionResult, "usage" | "costUsd"> = isParent ? {} : result;
  const isFree =
    isParent || (from === "queued" && task.restarts === 0) || finish.usedNoModel === true || UNBILLED_CODES.has(result.errorCode);
  return {
    completed: state === "completed" ? 1 : 0,
    failed: state === "failed" ? 1 : 0,
    cancelled: state === "cancelled" ? 1 : 0,
    duration_ms: from === "running" && !isParent ? toAmount(now - (task.startedAt ?? now)) : 0,
    ...toUsageCounts(usage),
    usage_unknown: usage === undefined && !isFree ? 1 : 0,
    cost_micros: toAmount(costUsd === undefined ? 0 : costUsd * 1e6),
    cost_unknown: costUsd === undefined && !isFree ? 1 : 0,
  };
}

/** What one adapter and model have added to a task. */
interface AdapterCounts {
  provider: string;
  model: string;
  counts: UsageCounts;
}

/**
 * Counts a task with the adapter of its last attempt, and what earlier attempts have used with their adapters. The result of the task
 * contains the sum of all.
 */
function countByAttempt(end: TaskEnd): AdapterCounts[] {
  const { task, finish } = end;
  const isParent = finish.hasChildren === true;
  const counts = toCounts(end, { isParent });
  const started = isParent ? [] : (finish.result.attempts ?? []).filter(({ startedAt }) => startedAt !== null);
  const earlier = started.slice(0, -1).map(({ provider, model, usage, costUsd }): AdapterCounts => {
    const own = { ...toUsageCounts(usage ?? undefined), cost_micros: toAmount((costUsd ?? 0) * 1e6) };
    return { provider, model: toModelKey(model ?? ""), counts: { ...noCounts(), ...own } };
  });
  for (const { counts: own } of earlier) for (const name of usageCounts) counts[name] = Math.max(0, counts[name] - own[name]);
  return [...earlier, { provider: started.at(-1)?.provider ?? task.provider, model: modelOf(end), counts }];
}

const toUsageCounts = (usage: ExecutionResult["usage"]) => ({
  input_tokens: toAmount(usage?.inputTokens),
  output_tokens: toAmount(usage?.outputTokens),
  cache_read_tokens: toAmount(usage?.cacheReadTokens),
  cache_write_tokens: toAmount(usage?.cacheWriteTokens),
});

const toAmount = (amount = 0): number => Math.round(Math.min(Math.max(amount, 0), MAX_AMOUNT));

/** The model that ran the task, or the requested one; empty if neither is known. */
const modelOf = ({ task, finish }: TaskEnd): string => toModelKey(finish.result.model ?? task.request.model ?? "");

const toModelKey = (model: string): string => toColumnText(model).slice(0, MAX_MODEL).toWellFormed();
