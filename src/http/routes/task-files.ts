import type { FastifyInstance } from "fastify";
import type { FastifyZodOpenApiTypeProvider } from "fastify-zod-openapi";
import { z } from "zod";
import type { FoundFile, TaskFiles } from "../../workspaces/task-files.ts";
import { encodeNameCursor, nameCursorSchema, pageQuery } from "../wire/cursor.ts";
import { noQuery } from "../wire/empty.ts";
import { problemResponses } from "../wire/problem.ts";
import { headersOf } from "../wire/response-headers.ts";
import { taskParams } from "../wire/task-params.ts";
import { time, toIso } from "../wire/time.ts";
import { sendFile } from "./send-file.ts";

const fileSchema = z
  .strictObject({
    path: z.string().describe("Relative to the workspace."),
    bytes: z.number().int().nonnegative(),
    modifiedAt: time.describe("When its content, name or mode last changed."),
  })
  .meta({ id: "TaskFile" });

const fileListSchema = z
  .strictObject({
    data: z.array(fileSchema),
    meta: z.strictObject({
      nextCursor: z.string().nullable(),
      truncated: z.boolean().describe("Something could not be read: an unreadable or enormous directory, a path that is too long."),
    }),
  })
  .meta({ id: "TaskFilePage" });

const rangeHeaders = z.object({
  range: z.string().optional().describe("`bytes=<first>-<last>`: one range."),
  "if-range": z.string().optional().describe("An ETag: the range only if the file has not changed since, otherwise the whole file."),
});
const fileHeaders = ["Accept-Ranges", "Content-Disposition", "ETag"] as const;
const binary = { "application/octet-stream": { schema: z.string().meta({ override: { type: "string", format: "binary" } }) } };

/** `GET /api/v2/tasks/{taskId}/files` and `GET /api/v2/tasks/{taskId}/files/{path}`. */
export function registerTaskFileRoutes(server: FastifyInstance, { taskFiles }: { taskFiles: TaskFiles }): void {
  const app = server.withTypeProvider<FastifyZodOpenApiTypeProvider>();

  app.get(
    "/api/v2/tasks/:taskId/files",
    {
      config: { scope: "read" },
      schema: {
        operationId: "listTaskFiles",
        tags: ["files"],
        summary: "List the files that a task left",
        description:
          "Files of the agent's workspace that last changed while the task ran, by path. A page may hold fewer than `limit`: only a `nextCursor` of null is the end.",
        params: taskParams,
        querystring: z.strictObject({
          limit: pageQuery.limit,
          cursor: nameCursorSchema.optional().describe("`meta.nextCursor` of the page before."),
        }),
        response: {
          200: { description: "A page of files.", content: { "application/json": { schema: fileListSchema } } },
          ...problemResponses("invalid_request", "unauthenticated", "scope_missing", "not_found"),
        },
      },
    },
    async (request) => {
      const { limit, cursor } = request.query;
      const { files, next, truncated } = await taskFiles.list(request.principal.tenant, request.params.taskId, {
        after: cursor ?? null,
        limit,
      });
      return { data: files.map(describeFile), meta: { nextCursor: next === null ? null : encodeNameCursor(next), truncated } };
    },
  );

  const fileRoute = {
    url: "/api/v2/tasks/:taskId/files/*",
    config: { scope: "read" },
    // The one that Fastify would make for HEAD reads the file from beginning to end.
    exposeHeadRoute: false,
  } as const;
  const params = taskParams.extend({ "*": z.string().describe("Path of the file; slashes are part of it.") });

  for (const method of ["GET", "HEAD"] as const) {
    app.route({
      ...fileRoute,
      method,
      schema: {
        hide: method === "HEAD",
        operationId: "downloadTaskFile",
        tags: ["files"],
        summary: "Download a file that a task left",
        description: "The whole file, or the one range that a Range header asks for. At most 1 GiB at once.",
        params,
        querystring: noQuery,
        headers: rangeHeaders,
        response: {
          200: { description: "The file.", headers: headersOf(...fileHeaders), content: binary },
          206: { description: "The requested range.", headers: headersOf(...fileHeaders, "Content-Range"), content: binary },
          ...problemResponses("invalid_request", "unauthenticated", "scope_missing", "not_found", "too_large", "range_not_satisfiable"),
        },
      },
      handler: async (request, reply) => {
        const { taskId, "*": path } = request.params;
        return sendFile(request, reply, await taskFiles.open(request.principal.tenant, taskId, path));
      },
    });
  }
}

const describeFile = ({ path, bytes, changedAt }: FoundFile): z.infer<typeof fileSchema> => ({ path, bytes, modifiedAt: toIso(changedAt) });
