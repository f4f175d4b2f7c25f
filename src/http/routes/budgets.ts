import type { FastifyPluginAsyncZodOpenApi } from "fastify-zod-openapi";
import { z } from "zod";
import { type BudgetScope, budgetPeriods } from "../../budgets/budget.ts";
import type { Budgets, CountedBudget } from "../../budgets/budgets.ts";
import { MICROS_PER_USD } from "../../task.ts";
import { extensibleEnum } from "../wire/extensible-enum.ts";
import { pageQuery, pageSchema, toPage } from "../wire/pagination.ts";
import { bodyErrorCodes, problemResponses } from "../wire/problem.ts";
import { noQuery } from "../wire/request-schemas.ts";
import { timestamp, toIso } from "../wire/timestamps.ts";

const usd = z.number();
const tokens = z.number().int();
const stateSchema = extensibleEnum(z.enum(["ok", "warning", "reached"]), {
  id: "BudgetState",
  description: "`warning`: what is spent has reached a threshold of `warnAt`. `reached`: it has reached the maximum.",
});

/** A budget in the API. */
export const budgetSchema = z
  .strictObject({
    name: z.string(),
    scope: z
      .record(z.string(), z.string())
      .describe("The tasks to which it applies: `tenant`, `agentId`, `provider`, `model`, `token`, `label.<name>`. Empty: all."),
    per: z.enum(budgetPeriods),
    periodStart: timestamp.nullable().describe("Null if it limits each task alone."),
    periodEnd: timestamp.nullable().describe("Null if it limits each task alone."),
    maxCostUsd: usd.nullable(),
    maxTokens: tokens.nullable(),
    spentUsd: usd.describe("What tasks have spent in this period, including `estimatedUsd`."),
    spentTokens: tokens,
    reservedUsd: usd.describe("What running tasks may still spend."),
    reservedTokens: tokens,
    estimatedUsd: usd.describe("The part of `spentUsd` that is a guess, because the cost of its tasks is unknown."),
    waitingTasks: z.number().int().describe("Queued tasks for which the budget has no room."),
    state: stateSchema,
  })
  .meta({ id: "Budget", description: "A budget of the file BRIDGE_BUDGETS_FILE, with what is spent of it in the current period." });

const adjustmentSchema = z
  .strictObject({
    spentUsd: z.number().min(0).max(1_000_000_000).describe("What is spent in the current period."),
    reason: z.string().min(1).max(500),
  })
  .meta({ id: "BudgetAdjustment", examples: [{ spentUsd: 12.5, reason: "A price was wrong." }] });

/** `GET /api/v2/budgets` and `POST /api/v2/budgets/{name}/adjust`. */
export const budgetRoutes: FastifyPluginAsyncZodOpenApi<{ budgets: Pick<Budgets, "list" | "adjust"> }> = async (app, { budgets }) => {
  app.get(
    "/api/v2/budgets",
    {
      config: { scope: "read" },
      schema: {
        operationId: "listBudgets",
        tags: ["budgets"],
        summary: "List budgets",
        description: "The budgets of your tenant, in the order of the file. Budgets that limit all tenants belong to the tenant `default`.",
        querystring: z.strictObject(pageQuery),
        response: {
          200: { description: "A page of budgets.", content: { "application/json": { schema: pageSchema(budgetSchema) } } },
          ...problemResponses("invalid_request", "unauthenticated", "scope_missing"),
        },
      },
    },
    async (request) => {
      const { limit, cursor: offset = 0 } = request.query;
      const all = (await budgets.list(request.principal.tenant)).map((counted, index) => ({ counted, position: index + 1 }));
      return toPage(
        all.slice(offset, offset + limit),
        all.length > offset + limit,
        ({ counted }) => describeBudget(counted),
        ({ position }) => position,
      );
    },
  );

  app.post(
    "/api/v2/budgets/:name/adjust",
    {
      config: { scope: "manage" },
      schema: {
        operationId: "adjustBudget",
        tags: ["budgets"],
        summary: "Correct what is spent",
        description:
          "Replaces what is spent in the current period, for example after a price was wrong. Bridge stores the change with its reason and the name of the token. Tasks that wait for the budget start if it has room.",
        params: z.object({ name: z.string().describe("Name of the budget.") }),
        querystring: noQuery,
        body: adjustmentSchema,
        response: {
          200: { description: "The adjusted budget.", content: { "application/json": { schema: budgetSchema } } },
          ...problemResponses(
            ...bodyErrorCodes,
            "unauthenticated",
            "scope_missing",
            "not_found",
            "invalid_state",
            "too_many_requests",
            "storage_unavailable",
          ),
        },
      },
    },
    async (request) => {
      const { tenant, name: by } = request.principal;
      return describeBudget(await budgets.adjust(tenant, request.params.name, { ...request.body, by }));
    },
  );
};

const toUsd = (micros: number): number => micros / MICROS_PER_USD;
const toUsdOrNull = (micros: number | null): number | null => (micros === null ? null : toUsd(micros));

function describeBudget(counted: CountedBudget): z.infer<typeof budgetSchema> {
  const { budget, limit, counts } = counted;
  return {
    ...{ name: budget.name, scope: describeScope(budget.scope), per: budget.per },
    periodStart: limit === null ? null : toIso(limit.startsAt),
    periodEnd: limit === null ? null : toIso(limit.endsAt),
    ...{ maxCostUsd: toUsdOrNull(budget.maxMicros), maxTokens: budget.maxTokens },
    ...{ spentUsd: toUsd(counts?.spentMicros ?? 0), spentTokens: counts?.spentTokens ?? 0 },
    ...{ reservedUsd: toUsd(counts?.reservedMicros ?? 0), reservedTokens: counts?.reservedTokens ?? 0 },
    ...{ estimatedUsd: toUsd(counts?.estimatedMicros ?? 0), waitingTasks: counts?.waitingTasks ?? 0 },
    state: findState(counted),
  };
}

const describeScope = ({ labels, ...fields }: BudgetScope): Record<string, string> => ({
  ...Object.fromEntries(Object.entries(fields).flatMap(([field, value]) => (value === undefined ? [] : [[field, value]]))),
  ...Object.fromEntries(Object.entries(labels).map(([name, value]) => [`label.${name}`, value])),
});

function findState({ budget: { maxMicros, maxTokens, warnAt }, counts }: CountedBudget): "ok" | "warning" | "reached" {
  if (counts === null) return "ok";
  const share = Math.max(maxMicros === null ? 0 : counts.spentMicros / maxMicros, maxTokens === null ? 0 : counts.spentTokens / maxTokens);
  if (share >= 1) return "reached";
  return warnAt.some((threshold) => share >= threshold) ? "warning" : "ok";
}
