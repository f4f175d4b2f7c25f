import type { onRequestAsyncHookHandler } from "fastify";
import type { FastifyPluginAsyncZodOpenApi } from "fastify-zod-openapi";
import { z } from "zod";
import { BridgeError } from "../../errors.ts";
import { agentIdPattern } from "../../requests/dispatch-schema.ts";
import type { WorkspaceList } from "../../workspaces/list-workspaces.ts";
import type { WorkspaceFiles } from "../../workspaces/workspace-files.ts";
import { createClosedSignal } from "../wire/closed-signal.ts";
import { parseFilePrecondition } from "../wire/etag.ts";
import { encodeNameCursor, nameCursorSchema, pageQuery, pageSchema } from "../wire/pagination.ts";
import { bodyErrorCodes, forwardingCodes, problemResponses } from "../wire/problem.ts";
import { noQuery } from "../wire/request-schemas.ts";
import { timestamp, toIso } from "../wire/timestamps.ts";

const workspaceSchema = z
  .strictObject({
    id: z.string(),
    kind: z.literal("agent"),
    agentId: z.string(),
    tasks: z.number().int().nonnegative().describe("Number of stored tasks of the agent."),
    updatedAt: timestamp.describe(
      "Time at which its newest task started or ended. Without tasks, the time of the last change of its directory.",
    ),
  })
  .meta({ id: "Workspace" });

const params = z.object({
  agentId: z.string().regex(agentIdPattern, "must be 1 to 128 of A-Z a-z 0-9 _ -").describe("Id of the agent."),
  "*": z.string().describe("Path of the file, relative to the workspace. It can contain slashes."),
});

/** Loose, so that validation does not remove the other headers. */
const conditionHeaders = z.looseObject({
  "if-match": z
    .string()
    .optional()
    .describe("One or more ETags, of which one must match the file, or `*` if the file must exist. Otherwise 409 `stale_write`."),
  "if-none-match": z.string().optional().describe("`*` if the file must not exist. Otherwise 409 `stale_write`."),
});

/** Creates new objects for each route, because the generator of the API description would fill in only the first use of a shared object. */
const describeWriteErrors = () =>
  problemResponses(
    ...bodyErrorCodes,
    "unauthenticated",
    "scope_missing",
    "not_found",
    "invalid_state",
    "stale_write",
    "too_many_requests",
    "storage_unavailable",
    ...forwardingCodes,
  );

const PATH_RULES =
  "`.git` and `node_modules` at any depth, and `SOUL.md`, `AGENTS.md`, `TOOLS.md` and `agent.json` at the root, are rejected with 400. Links are not followed.";

/** `GET /api/v2/workspaces`, and `PUT` and `DELETE /api/v2/workspaces/{agentId}/files/{path}`. */
export const workspaceRoutes: FastifyPluginAsyncZodOpenApi<{
  workspaces: WorkspaceList;
  files: WorkspaceFiles;
  /** Passes requests about files to the node of their agent. */
  forward: onRequestAsyncHookHandler;
}> = async (app, { workspaces, files, forward }) => {
  app.addHook("onRequest", forward);
  app.get(
    "/api/v2/workspaces",
    {
      config: { scope: "read" },
      schema: {
        operationId: "listWorkspaces",
        tags: ["workspaces"],
        summary: "List workspaces",
        description: "The workspaces of your tenant, one for each agent that has tasks or a directory, sorted by `agentId`.",
        querystring: z.strictObject({
          limit: pageQuery.limit,
          cursor: nameCursorSchema.optional().describe("`meta.nextCursor` of the previous page."),
        }),
        response: {
          200: { description: "A page of workspaces.", content: { "application/json": { schema: pageSchema(workspaceSchema) } } },
          ...problemResponses("invalid_request", "unauthenticated", "scope_missing"),
        },
      },
    },
    async (request, reply) => {
      const { limit, cursor } = request.query;
      const page = { after: cursor ?? "", limit };
      const { workspaces: found, next } = await workspaces.pageWorkspaces(request.principal.tenant, page, createClosedSignal(reply));
      return {
        data: found.map(({ updatedAt, ...workspace }) => ({ ...workspace, updatedAt: toIso(updatedAt) })),
        meta: { nextCursor: next === null ? null : encodeNameCursor(next) },
      };
    },
  );

  // Bodies of files can have any type and are never parsed. This affects only the routes of this plugin.
  app.removeAllContentTypeParsers();
  app.addContentTypeParser("*", { parseAs: "buffer" }, (request, bytes, done) => {
    const { "content-encoding": encoding = "identity" } = request.headers;
    if (encoding.toLowerCase() === "identity") done(null, bytes);
    else done(new BridgeError("unsupported_media_type", "Content-Encoding is not supported for files. Send the file without it."));
  });

  app.put(
    "/api/v2/workspaces/:agentId/files/*",
    {
      config: { scope: "dispatch", isRateLimited: true },
      schema: {
        operationId: "putWorkspaceFile",
        tags: ["workspaces"],
        summary: "Write a file of a workspace",
        description: `Creates or replaces a file. The body is its content, of any type, at most BRIDGE_BODY_LIMIT. The write is atomic: readers, including running tasks, see either the old or the new content. ${PATH_RULES}`,
        params,
        querystring: noQuery,
        headers: conditionHeaders,
        consumes: ["application/octet-stream"],
        "x-response-headers": { 201: ["ETag"], 204: ["ETag"] },
        body: z.unknown().meta({ override: { type: "string", format: "binary" } }),
        response: {
          201: { description: "Created. `ETag` is the tag of the new content." },
          204: { description: "Replaced. `ETag` is the tag of the new content." },
          ...describeWriteErrors(),
        },
      },
    },
    async (request, reply) => {
      const { agentId, "*": path } = request.params;
      const content = (request.body as Buffer | undefined) ?? Buffer.alloc(0);
      const { isNew, tag } = await files.put({ tenant: request.principal.tenant, agentId, path }, content, parseFilePrecondition(request));
      return reply
        .code(isNew ? 201 : 204)
        .header("etag", `"${tag}"`)
        .send();
    },
  );

  app.delete(
    "/api/v2/workspaces/:agentId/files/*",
    {
      config: { scope: "dispatch", isRateLimited: true },
      schema: {
        operationId: "deleteWorkspaceFile",
        tags: ["workspaces"],
        summary: "Delete a file of a workspace",
        description: `Deletes one regular file. Directories remain. ${PATH_RULES}`,
        params,
        querystring: noQuery,
        headers: conditionHeaders,
        response: { 204: { description: "Deleted." }, ...describeWriteErrors() },
      },
    },
    async (request, reply) => {
      const { agentId, "*": path } = request.params;
      await files.delete({ tenant: request.principal.tenant, agentId, path }, parseFilePrecondition(request));
      return reply.code(204).send();
    },
  );
};
