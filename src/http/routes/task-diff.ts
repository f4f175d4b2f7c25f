import type { onRequestAsyncHookHandler } from "fastify";
import type { FastifyPluginAsyncZodOpenApi } from "fastify-zod-openapi";
import { z } from "zod";
import type { TaskChanges } from "../../queries/task-changes.ts";
import { DIFF_LIMITS, diffCuts } from "../../workspaces/diff-work-tree.ts";
import { createClosedSignal } from "../wire/closed-signal.ts";
import { extensibleEnum } from "../wire/extensible-enum.ts";
import { forwardingCodes, problemResponses } from "../wire/problem.ts";
import { noQuery, taskParams } from "../wire/request-schemas.ts";

/** How many times its size a diff occupies while its answer is built: its bytes, its text, base64, and the JSON of both. */
const DIFF_COPIES = 6;

const diffSchema = z
  .strictObject({
    commit: z.string().describe("The commit that was checked out when the task started."),
    directory: z.string().describe("Directory of the git work tree, relative to the workspace; empty for the workspace itself."),
    diff: z
      .string()
      .describe("The unified diff as text. Empty if nothing differs. U+FFFD replaces bytes that are not UTF-8; then use `diffBase64`."),
    diffBase64: z
      .string()
      .nullable()
      .describe(
        "The exact bytes of the diff, in base64, if a file or its name is not UTF-8, for example in Latin-1. Null if `diff` contains the exact bytes.",
      ),
    truncated: extensibleEnum(z.enum(diffCuts), {
      id: "DiffCut",
      description: `Why a diff is not complete: \`bytes\`: it is longer than ${DIFF_LIMITS.bytes} bytes; \`time\`: git had not finished it after ${DIFF_LIMITS.ms / 1000} s; \`unreadable\`: git could not read a file or an object.`,
    })
      .nullable()
      .describe("Why the end of the diff is missing; null if the diff is complete."),
    omitted: z
      .array(z.string())
      .describe(
        `Up to ${DIFF_LIMITS.omittedFiles} files of more than ${DIFF_LIMITS.fileBytes} bytes that Bridge does not compare, relative to \`directory\`.`,
      ),
  })
  .meta({ id: "TaskDiff", description: "The changes of a git work tree since a task started." });

/** `GET /api/v2/tasks/{taskId}/diff`. */
export const taskDiffRoutes: FastifyPluginAsyncZodOpenApi<{
  changes: Pick<TaskChanges, "readDiff">;
  /** Passes requests to the node of their task. */
  forward: onRequestAsyncHookHandler;
}> = async (app, { changes, forward }) => {
  app.addHook("onRequest", forward);
  app.get(
    "/api/v2/tasks/:taskId/diff",
    {
      config: { scope: "read", isRateLimited: true },
      // A HEAD request would compute the diff, too.
      exposeHeadRoute: false,
      schema: {
        operationId: "getTaskDiff",
        tags: ["files"],
        summary: "Get the diff of a task",
        description: `The unified diff between the commit that was checked out when the task started and the files that are in its git work tree now, including untracked files that are not ignored. It includes changes that were not committed when the task started, and changes of later tasks. For a task with a repository, Bridge compares \`baseCommit\` with the work tree while the task runs, and with \`headCommit\` after its end; 409 \`invalid_state\` while it has no work tree yet, 404 \`not_found\` if no changes are stored. For other tasks: 409 \`invalid_state\` if the task has not started or did not start in a git work tree, if its commit is no longer in the repository, if the repository has \`objects/info/alternates\`, if a file that git opens is a pipe, or if git needed more than ${DIFF_LIMITS.ms / 1000} s before the diff began; 404 \`not_supported\` if Bridge cannot run git.`,
        params: taskParams,
        querystring: noQuery,
        response: {
          200: { description: "The diff.", content: { "application/json": { schema: diffSchema } } },
          ...problemResponses(
            "invalid_request",
            "unauthenticated",
            "scope_missing",
            "not_found",
            "not_supported",
            "invalid_state",
            "too_many_requests",
            ...forwardingCodes,
          ),
        },
      },
    },
    async (request, reply) => {
      const reserve = () => request.reserve(reply, DIFF_COPIES * DIFF_LIMITS.bytes);
      return changes.readDiff(request.principal.tenant, request.params.taskId, { reserve, signal: createClosedSignal(reply) });
    },
  );
};
