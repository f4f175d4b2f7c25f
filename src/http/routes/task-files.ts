import type { onRequestAsyncHookHandler } from "fastify";
import type { FastifyPluginAsyncZodOpenApi } from "fastify-zod-openapi";
import { z } from "zod";
import type { FoundFile, TaskFiles } from "../../workspaces/tenant-task-files.ts";
import { createClosedSignal } from "../wire/closed-signal.ts";
import { encodeNameCursor, nameCursorSchema, pageQuery } from "../wire/pagination.ts";
import { forwardingCodes, problemResponses } from "../wire/problem.ts";
import { noQuery, taskParams } from "../wire/request-schemas.ts";
import { headersOf } from "../wire/response-headers.ts";
import { timestamp, toIso } from "../wire/timestamps.ts";
import { sendFile } from "./send-file.ts";

const fileSchema = z
  .strictObject({
    path: z.string().describe("Relative to the workspace."),
    bytes: z.number().int().nonnegative(),
    modifiedAt: timestamp.describe("Time of the last change of its content, name or mode."),
  })
  .meta({ id: "TaskFile" });

const fileListSchema = z
  .strictObject({
    data: z.array(fileSchema),
    meta: z.strictObject({
      nextCursor: z.string().nullable(),
      truncated: z.boolean().describe("Whether files are missing, because a directory is unreadable or too large, or a path is too long."),
    }),
  })
  .meta({ id: "TaskFilePage" });

const rangeHeaders = z.object({
  range: z.string().optional().describe("`bytes=<first>-<last>`: one range."),
  "if-range": z
    .string()
    .optional()
    .describe("An ETag. The range is returned only if the file still has this ETag, otherwise the whole file."),
});
const fileHeaders = ["Accept-Ranges", "Content-Disposition", "ETag"] as const;
const binary = { "application/octet-stream": { schema: z.string().meta({ override: { type: "string", format: "binary" } }) } };

/** `GET /api/v2/tasks/{taskId}/files` and `GET /api/v2/tasks/{taskId}/files/{path}`. */
export const taskFileRoutes: FastifyPluginAsyncZodOpenApi<{
  taskFiles: TaskFiles;
  /** Passes requests to the node of their task. */
  forward: onRequestAsyncHookHandler;
}> = async (app, { taskFiles, forward }) => {
  app.addHook("onRequest", forward);
  app.get(
    "/api/v2/tasks/:taskId/files",
    {
      config: { scope: "read" },
      schema: {
        operationId: "listTaskFiles",
        tags: ["files"],
        summary: "List the files that a task left",
        description:
          "Files of the agent's workspace that last changed while the task ran, sorted by path. A page can have fewer than `limit` files; `nextCursor` is null on the last page. Empty for a task with a repository: read its diff or its patch instead.",
        params: taskParams,
        querystring: z.strictObject({
          limit: pageQuery.limit,
          cursor: nameCursorSchema.optional().describe("`meta.nextCursor` of the previous page."),
        }),
        response: {
          200: { description: "A page of files.", content: { "application/json": { schema: fileListSchema } } },
          ...problemResponses("invalid_request", "unauthenticated", "scope_missing", "not_found", ...forwardingCodes),
        },
      },
    },
    async (request, reply) => {
      const { limit, cursor } = request.query;
      const { files, next, truncated } = await taskFiles.list(request.principal.tenant, request.params.taskId, {
        after: cursor ?? null,
        limit,
        signal: createClosedSignal(reply),
      });
      return { data: files.map(describeFile), meta: { nextCursor: next === null ? null : encodeNameCursor(next), truncated } };
    },
  );

  const fileRoute = {
    url: "/api/v2/tasks/:taskId/files/*",
    config: { scope: "read" },
    // The HEAD route that Fastify would add reads the whole file.
    exposeHeadRoute: false,
  } as const;
  const params = taskParams.extend({ "*": z.string().describe("Path of the file. It can contain slashes.") });

  for (const method of ["GET", "HEAD"] as const) {
    app.route({
      ...fileRoute,
      method,
      schema: {
        hide: method === "HEAD",
        operationId: "downloadTaskFile",
        tags: ["files"],
        summary: "Download a file that a task left",
        description: "Returns the whole file, or one range if the request has a Range header. A response has at most 1 GiB.",
        params,
        querystring: noQuery,
        headers: rangeHeaders,
        response: {
          200: { description: "The file.", headers: headersOf(...fileHeaders), content: binary },
          206: { description: "The requested range.", headers: headersOf(...fileHeaders, "Content-Range"), content: binary },
          ...problemResponses(
            "invalid_request",
            "unauthenticated",
            "scope_missing",
            "not_found",
            "too_large",
            "range_not_satisfiable",
            ...forwardingCodes,
          ),
        },
      },
      handler: async (request, reply) => {
        const { taskId, "*": path } = request.params;
        return sendFile(request, reply, await taskFiles.open(request.principal.tenant, taskId, path));
      },
    });
  }
};

const describeFile = ({ path, bytes, changedAt }: FoundFile): z.infer<typeof fileSchema> => ({ path, bytes, modifiedAt: toIso(changedAt) });
