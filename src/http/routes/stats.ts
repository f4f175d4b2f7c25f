import type { FastifyPluginAsyncZodOpenApi } from "fastify-zod-openapi";
import { z } from "zod";
import {
  countTasks,
  MAX_RANGE_DAYS,
  type UsageCounts,
  type UsageRange,
  type UsageReader,
  usageGroupings,
  usageSplits,
  usageWindows,
} from "../../queries/usage-reader.ts";
import { MICROS_PER_USD } from "../../task.ts";
import { createClosedSignal } from "../wire/closed-signal.ts";
import { problemResponses } from "../wire/problem.ts";
import { timestamp, toIso } from "../wire/timestamps.ts";

/** The longest list of hours that a response contains, in days. */
const MAX_DAYS_OF_HOURS = 30;
const DAY_MS = 24 * 3_600_000;
const count = z.number().int().nonnegative();
const knownSum = "Sum over the tasks that report it. Null if it is unknown for all tasks.";
const countFields = {
  tasks: count.describe("Tasks that have ended, child tasks included."),
  completed: count,
  failed: count,
  cancelled: count,
  durationMs: count.describe(
    "Sum of the times from the start of a task to its end. A task with child tasks adds nothing: its time is theirs.",
  ),
  inputTokens: count.nullable().describe(`Cached tokens included. ${knownSum}`),
  outputTokens: count.nullable().describe(knownSum),
  cacheReadTokens: count.nullable().describe(knownSum),
  cacheWriteTokens: count.nullable().describe(knownSum),
  tasksWithoutUsage: count.describe("Tasks whose tokens are unknown."),
  costUsd: z.number().nonnegative().nullable().describe(`In US dollars. ${knownSum}`),
  tasksWithoutCost: count.describe("Tasks whose cost is unknown. If it is not 0, `costUsd` is less than the real cost."),
};
const countsSchema = z.strictObject(countFields).meta({ id: "UsageCounts", description: "What a number of ended tasks have used." });
const partSchema = z
  .strictObject({
    key: z.string().nullable().describe("Name of the adapter, agent or model. Null: the model is unknown."),
    ...countFields,
  })
  .meta({ id: "UsagePart", description: "What the tasks of one part of an hour or day have used." });
const groupSchema = z
  .strictObject({
    key: z
      .string()
      .nullable()
      .describe("Start of the hour or day, name of the adapter, agent or model, or a label as `name=value`. Null: the model is unknown."),
    ...countFields,
    parts: z
      .array(partSchema)
      .optional()
      .describe("With `split`: the largest parts of the window that this group contains, sorted by their cost in the window."),
    otherParts: countsSchema
      .nullable()
      .optional()
      .describe("With `split`: all parts that `parts` does not contain. Null if there are none."),
  })
  .meta({ id: "UsageGroup", description: "What the tasks of one group have used." });

const windowSchema = z.enum(Object.keys(usageWindows) as (keyof typeof usageWindows)[]);
const statsSchema = z
  .strictObject({
    window: windowSchema.nullable().describe("Null if the request has a range."),
    by: z.enum(usageGroupings),
    from: timestamp.describe("Start of the window, or of the range in whole hours."),
    to: timestamp.describe("Time of the response, or the end of the range in whole hours if it is earlier."),
    total: countsSchema,
    data: z.array(groupSchema).describe("The groups: hours and days in order, others sorted by cost and by their number of tasks."),
    other: countsSchema.nullable().describe("All groups that `data` does not contain. Null if there are none."),
  })
  .meta({
    id: "Stats",
    description: "Cost, tokens and numbers of ended tasks in a window. `total` contains each task once, whatever its labels.",
  });

/** A time of a range: ms since the epoch. */
const rangeTime = z
  .string()
  .refine(
    (text) => z.iso.date().safeParse(text).success || z.iso.datetime({ offset: true }).safeParse(text).success,
    "must be a date such as 2026-11-27, or a time with a time zone such as 2026-11-27T09:00:00+01:00",
  )
  .transform((text) => Date.parse(text));
const rangeTimeInput = { override: { type: "string" as const, examples: ["2026-11-27"] } };

/** Maximum parts of an hour or day: with the hours of 30 days, a response has at most 1 MB. */
const MAX_PARTS = 10;

const query = z
  .strictObject({
    window: windowSchema
      .optional()
      .describe(
        "`24h`: the current hour and the 23 before it. Otherwise the current day (UTC) and the days before it. Default: `24h`, unless there is a range.",
      ),
    from: rangeTime
      .optional()
      .describe("Start of a range, instead of `window`: a time, or a date, which begins at midnight UTC. Usage is summed by whole hours.")
      .meta(rangeTimeInput),
    to: rangeTime
      .optional()
      .describe(`End of the range, exclusive, at most ${MAX_RANGE_DAYS} days after \`from\`. Default: the present.`)
      .meta(rangeTimeInput),
    by: statsSchema.shape.by
      .default("agent")
      .describe(
        "How to group. `hour` is limited to windows of at most 30 days. The days of a range begin at the time of its `from`. A task with several labels is in several groups. Default: `agent`.",
      ),
    split: z
      .enum(usageSplits)
      .optional()
      .describe("Splits each hour or day into parts by agent, adapter or model, at most `limit`. Only with `by=hour` or `by=day`."),
    limit: z.coerce
      .number()
      .int()
      .min(1)
      .max(100)
      .optional()
      .describe(
        `Maximum groups, 1 to 100, except hours and days, default: 20; with \`split\`, maximum parts of them, 1 to ${MAX_PARTS}, default: ${MAX_PARTS}.`,
      ),
  })
  .transform(({ window, from, to = Date.now(), by, split, limit = split === undefined ? 20 : MAX_PARTS }, context) => {
    const reject = (name: string, message: string) => {
      context.issues.push({ code: "custom", input: undefined, path: [name], message });
      return z.NEVER;
    };
    const hasTo = context.value.to !== undefined;
    if (split !== undefined && by !== "hour" && by !== "day") return reject("split", "is possible only with `by=hour` or `by=day`");
    if (split !== undefined && limit > MAX_PARTS) return reject("limit", `must be at most ${MAX_PARTS} with \`split\``);
    if (from === undefined) {
      if (hasTo) return reject("from", "is missing; a range needs `from`");
      const named = window ?? "24h";
      if (by === "hour" && usageWindows[named] > MAX_DAYS_OF_HOURS * 24)
        return reject("by", `must not be \`hour\` in a window of more than ${MAX_DAYS_OF_HOURS} days; use \`day\``);
      return { window: named, by, limit, split };
    }
    if (window !== undefined) return reject("window", "must not be combined with `from`; send one of them");
    if (from >= to && hasTo) return reject("from", "must be before `to`");
    if (from >= Date.now()) return reject("from", "must be before the present");
    if (to - from > MAX_RANGE_DAYS * DAY_MS)
      return reject("from", `must be at most ${MAX_RANGE_DAYS} days before ${hasTo ? "`to`" : "the present"}`);
    if (by === "hour" && to - from > MAX_DAYS_OF_HOURS * DAY_MS)
      return reject("by", `must not be \`hour\` in a range of more than ${MAX_DAYS_OF_HOURS} days; use \`day\``);
    return { window: { from, to } satisfies UsageRange, by, limit, split };
  });

/** `GET /api/v2/stats`. */
export const statsRoutes: FastifyPluginAsyncZodOpenApi<{ usage: UsageReader }> = async (app, { usage }) => {
  app.get(
    "/api/v2/stats",
    {
      config: { scope: "read" },
      schema: {
        operationId: "getStats",
        tags: ["tasks"],
        summary: "Get cost, tokens and numbers of tasks",
        description:
          "Sums over the tasks of your tenant that ended in a window or a range of time, grouped. They remain for 400 days, also after the tasks were deleted. The cost, the tokens and the run time of a task with child tasks are those of its child tasks, which are counted as tasks themselves.",
        querystring: query,
        response: {
          200: { description: "The sums.", content: { "application/json": { schema: statsSchema } } },
          ...problemResponses("invalid_request", "unauthenticated", "scope_missing"),
        },
      },
    },
    async ({ principal, query: { window, by, limit, split } }, reply) => {
      const signal = createClosedSignal(reply);
      const { from, to, total, groups, other } = await usage.read(principal.tenant, { window, by, limit, split }, signal);
      return {
        ...{ window: typeof window === "string" ? window : null, by, from: toIso(from), to: toIso(to), total: describeCounts(total) },
        data: groups.map(({ key, counts, parts, otherParts }) => ({
          ...{ key: typeof key === "number" ? toIso(key) : key, ...describeCounts(counts) },
          ...(parts !== undefined && { parts: parts.map((part) => ({ key: part.key, ...describeCounts(part.counts) })) }),
          ...(otherParts !== undefined && { otherParts: otherParts === null ? null : describeCounts(otherParts) }),
        })),
        other: other === null ? null : describeCounts(other),
      };
    },
  );
};

/** An unknown sum is null and never 0. */
function describeCounts(counts: UsageCounts) {
  const { completed, failed, cancelled, usage_unknown, cost_unknown } = counts;
  const tokens = (sum: number): number | null => (usage_unknown > 0 && counts.input_tokens + counts.output_tokens === 0 ? null : sum);
  return {
    ...{ tasks: countTasks(counts), completed, failed, cancelled, durationMs: counts.duration_ms },
    inputTokens: tokens(counts.input_tokens),
    outputTokens: tokens(counts.output_tokens),
    cacheReadTokens: tokens(counts.cache_read_tokens),
    cacheWriteTokens: tokens(counts.cache_write_tokens),
    tasksWithoutUsage: usage_unknown,
    costUsd: cost_unknown > 0 && counts.cost_micros === 0 ? null : counts.cost_micros / MICROS_PER_USD,
    tasksWithoutCost: cost_unknown,
  };
}
