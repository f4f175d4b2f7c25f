import type { Logger } from "pino";
import { z } from "zod";
import { ConfigError } from "../errors.ts";
import { formatFault, openReloadedFile } from "../reloaded-file.ts";
import { MICROS_PER_USD } from "../task.ts";
import { type Budget, type BudgetScope, budgetPeriods, whenReachedModes } from "./budget.ts";

/** Options of `openBudgetsFile`. */
export interface BudgetsFileOptions {
  file: string;
  logger: Logger;
  pollMs: number;
  /** Called after the budgets have changed. */
  onReloaded(): void;
}

/**
 * Reads the file of budgets now and again after each change. Throws ConfigError if the file is not valid now; if it is not valid later, the
 * budgets of the last valid version stay in force.
 */
export function openBudgetsFile({ file, logger, pollMs, onReloaded }: BudgetsFileOptions) {
  let faults: readonly string[] = [];
  const reloaded = openReloadedFile<Entry, readonly Budget[]>({
    ...{ file, schema, pollMs, setting: SETTING, example: EXAMPLE },
    toContent: toBudgets,
    onInvalid(found) {
      faults = found;
      logger.error({ faults }, "budgets file is not valid, previous budgets stay in force");
    },
    onReloaded(budgets) {
      faults = [];
      logger.info({ budgets: budgets.map(({ name }) => name) }, "budgets file reloaded");
      onReloaded();
    },
  });
  return {
    /** The budgets of the last valid version. */
    budgets: reloaded.content,
    /** The faults of the newest version; empty if it is valid. */
    faults: (): readonly string[] => faults,
    close: reloaded.close,
  };
}

const SETTING = "BRIDGE_BUDGETS_FILE";
const EXAMPLE = '[{"name":"day","scope":{"tenant":"default"},"per":"day","maxCostUsd":50}]';

/** Each task is compared with all budgets. */
const MAX_BUDGETS = 200;
const MAX_COST_USD = 1e9;
const MAX_TOKENS = 1e15;
const MAX_THRESHOLDS = 10;
const LABEL_PREFIX = "label.";

const scopeKeys: readonly string[] = ["tenant", "agentId", "provider", "model", "token"];

const scope = z.record(z.string(), z.string().min(1)).superRefine((conditions, context) => {
  for (const key of Object.keys(conditions)) {
    if (scopeKeys.includes(key) || (key.startsWith(LABEL_PREFIX) && key.length > LABEL_PREFIX.length)) continue;
    context.addIssue({
      ...{ code: "custom", path: [key] },
      message: "is not a known condition; use tenant, agentId, provider, model, token or label.<name>",
    });
  }
});

const timezone = z.string().refine(isTimeZone, "is not a known time zone; use a name such as Europe/Zurich or UTC");

const share = z.number().refine((value) => value > 0 && value <= 1, "must be above 0 and at most 1, for example 0.8");

const schema = z
  .array(
    z.strictObject({
      name: z.string().regex(/^[A-Za-z0-9]([A-Za-z0-9._-]{0,62}[A-Za-z0-9])?$/, {
        error: "must be 1 to 64 letters, digits, dots, hyphens or underscores, and begin and end with a letter or digit",
      }),
      scope: scope.default({}),
      per: z.enum(budgetPeriods),
      timezone: timezone.default("UTC"),
      maxCostUsd: z
        .number()
        .min(1 / MICROS_PER_USD)
        .max(MAX_COST_USD)
        .nullable()
        .default(null),
      maxTokens: z.int().min(1).max(MAX_TOKENS).nullable().default(null),
      warnAt: z.array(share).max(MAX_THRESHOLDS).default([0.8]),
      whenReached: z.enum(whenReachedModes).default("refuse"),
    }),
  )
  .max(MAX_BUDGETS);
type Entry = z.infer<typeof schema>[number];

function toBudgets(entries: readonly Entry[]): Budget[] {
  const faults: string[] = [];
  const addFault = (path: string, message: string): void => void faults.push(formatFault({ setting: SETTING, entries }, path, message));
  const names = new Set<string>();
  const budgets = entries.map(({ maxCostUsd, warnAt, ...entry }, index): Budget => {
    if (names.has(entry.name)) addFault(`${index}.name`, `${entry.name} is the name of another budget; choose a unique name`);
    names.add(entry.name);
    if (maxCostUsd === null && entry.maxTokens === null) addFault(`${index}`, "has no maximum; set maxCostUsd, maxTokens or both");
    if (entry.per === "task" && entry.whenReached === "wait")
      addFault(`${index}.whenReached`, 'must be "refuse" if per is "task", because there is no next period to wait for');
    return {
      ...{ ...entry, scope: toScope(entry.scope), warnAt: [...new Set(warnAt)].sort((a, b) => a - b) },
      maxMicros: maxCostUsd === null ? null : Math.round(maxCostUsd * MICROS_PER_USD),
    };
  });
  if (faults.length > 0) throw new ConfigError(faults);
  return budgets;
}

function toScope(conditions: Readonly<Record<string, string>>): BudgetScope {
  const labels = Object.entries(conditions).filter(([key]) => key.startsWith(LABEL_PREFIX));
  const fields = Object.entries(conditions).filter(([key]) => !key.startsWith(LABEL_PREFIX));
  return {
    ...Object.fromEntries(fields),
    labels: Object.fromEntries(labels.map(([key, value]) => [key.slice(LABEL_PREFIX.length), value])),
  };
}

function isTimeZone(name: string): boolean {
  try {
    new Intl.DateTimeFormat("en-US", { timeZone: name });
    return true;
  } catch {
    return false;
  }
}
