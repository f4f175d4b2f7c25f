import type { FastifyPluginAsyncZodOpenApi } from "fastify-zod-openapi";
import { z } from "zod";
import { taskErrorCodeSchema } from "#contract";
import { PAGE_BYTES } from "../../access/client-memory.ts";
import type { TaskReader } from "../../queries/task-reader.ts";
import { encodeCursor, pageQuery, pageSchema, toPage } from "../wire/pagination.ts";
import { problemResponses } from "../wire/problem.ts";
import { timeInput, timeParameter } from "../wire/timestamps.ts";
import { callbackStateSchema } from "./describe-callback.ts";
import { describeListedTask, listedTaskSchema, taskStateInput } from "./describe-task.ts";

/** Maximum labels of a filter, as many as a task can have. */
const MAX_LABEL_FILTERS = 16;
const labelFilter = z
  .string()
  .regex(/^[^=]+=.+$/, "must be name=value, for example label=team=docs")
  .transform((text) => ({ name: text.slice(0, text.indexOf("=")), value: text.slice(text.indexOf("=") + 1) }));

/** Conditions that have no index in the order of the list. */
const searchQuery = {
  errorCode: z
    .enum([...taskErrorCodeSchema.options, "canceled"])
    .transform((code) => (code === "canceled" ? "cancelled" : code))
    .optional()
    .describe("Only tasks that ended with this error code.")
    .meta({ override: { type: "string", enum: [...taskErrorCodeSchema.options, "canceled"] } }),
  callback: callbackStateSchema.optional().describe("Only ended tasks with a callback in this state."),
  waitingOn: z.enum(["approval"]).optional().describe("`approval`: only tasks with a tool call that waits for approval."),
  createdAfter: timeParameter.optional().describe("Only tasks that were created at this time or later.").meta(timeInput),
  createdBefore: timeParameter.optional().describe("Only tasks that were created before this time.").meta(timeInput),
  finishedAfter: timeParameter.optional().describe("Only tasks that ended at this time or later.").meta(timeInput),
  finishedBefore: timeParameter.optional().describe("Only tasks that ended before this time.").meta(timeInput),
  idPrefix: z
    .string()
    .regex(/^[A-Za-z0-9_:-]{1,128}$/, "must be the beginning of a taskId: 1 to 128 of A-Z a-z 0-9 _ : -")
    .optional()
    .describe("Only tasks whose id begins with this text."),
  root: z
    .string()
    .regex(/^([A-Za-z0-9_:-]{1,128}|\*)$/, "must be a taskId, or * for tasks without a parent")
    .optional()
    .describe("Only this task, its child tasks and their child tasks. `*`: only tasks without a parent."),
  label: z
    .preprocess((value) => (typeof value === "string" ? [value] : value), z.array(labelFilter).max(MAX_LABEL_FILTERS))
    .optional()
    .meta({
      description: "Only tasks with this label, as `name=value`. Repeat the parameter for tasks that have several labels.",
      override: { type: "array", items: { type: "string" }, maxItems: MAX_LABEL_FILTERS },
    }),
  q: z
    .string()
    .min(1, "must have 1 to 200 characters")
    .max(200, "must have 1 to 200 characters")
    .optional()
    .describe("Only tasks whose `title` contains this text, whatever the case of its ASCII letters."),
  search: z
    .string()
    .min(1, "must have 1 to 200 characters")
    .max(200, "must have 1 to 200 characters")
    .optional()
    .describe(
      "Only tasks whose id begins with this text, whose `title` or `agentId` contains it, or that have the label `name=value` that it begins. Tasks that it finds by their id come first, in a separate page.",
    ),
};

const listQuery = z.strictObject({
  ...pageQuery,
  ...searchQuery,
  state: taskStateInput.optional().describe("Only tasks in this state."),
  provider: z.string().optional().describe("Only tasks of this adapter."),
  agentId: z.string().optional().describe("Only tasks of this agent."),
  parentTaskId: z.string().optional().describe("Only child tasks of this task."),
});

/** `GET /api/v2/tasks`. */
export const taskListRoutes: FastifyPluginAsyncZodOpenApi<{ tasks: TaskReader }> = async (app, { tasks }) => {
  app.get(
    "/api/v2/tasks",
    {
      config: { scope: "read" },
      schema: {
        operationId: "listTasks",
        tags: ["tasks"],
        summary: "List tasks",
        description:
          "Tasks of your tenant, newest first, without their results. A page can have fewer than `limit` tasks; `nextCursor` is null on the last page. With `errorCode`, `callback`, `waitingOn`, `createdAfter`, `createdBefore`, `finishedAfter`, `finishedBefore`, `idPrefix`, `root`, `label`, `q` or `search`, a page examines at most 2,000 tasks, so that it can be empty before the last page.",
        querystring: listQuery,
        response: {
          200: {
            description: "A page of tasks, without their results.",
            content: { "application/json": { schema: pageSchema(listedTaskSchema) } },
          },
          ...problemResponses("invalid_request", "unauthenticated", "scope_missing"),
        },
      },
    },
    async (request, reply) => {
      await request.reserve(reply, PAGE_BYTES);
      return listTasks(tasks, request.principal.tenant, request.query);
    },
  );
};

async function listTasks(tasks: TaskReader, tenant: string, query: z.output<typeof listQuery>) {
  const {
    limit,
    cursor,
    errorCode,
    callback,
    waitingOn,
    createdAfter,
    createdBefore,
    finishedAfter,
    finishedBefore,
    idPrefix,
    root,
    label,
    q,
    search: text,
    ...filter
  } = query;
  const times = { createdAfter, createdBefore, finishedAfter, finishedBefore };
  const search = { ...times, errorCode, callback, waitingOn, idPrefix, root: root === "*" ? null : root, labels: label, title: q, text };
  if (Object.values(search).some((value) => value !== undefined)) {
    const { found, next } = await tasks.search({ ...filter, ...search, tenant }, { before: cursor ?? null, limit });
    return {
      data: found.map(describeListedTask),
      meta: { nextCursor: next === null ? null : encodeCursor(next) },
    };
  }
  const readPage = (before: number | null, size: number) => tasks.list({ ...filter, tenant }, { before, limit: size });
  const found = await readPage(cursor ?? null, limit);
  const last = found.at(-1);
  // A page with large metadata is cut short, so a page shorter than `limit` need not be the last.
  const hasMore = last !== undefined && (await readPage(last.task.seq, 1)).length > 0;
  return toPage(found, hasMore, describeListedTask, ({ task }) => task.seq);
}
