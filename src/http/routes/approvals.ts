import type { FastifyPluginAsyncZodOpenApi } from "fastify-zod-openapi";
import { z } from "zod";
import { PAGE_BYTES } from "../../access/client-memory.ts";
import type { Approvals } from "../../approvals/approvals.ts";
import { budgetUsd } from "../../requests/dispatch-schema.ts";
import { pageQuery, pageSchema, toPage } from "../wire/pagination.ts";
import { bodyErrorCodes, problemResponses } from "../wire/problem.ts";
import { noQuery } from "../wire/request-schemas.ts";
import { approvalSchema, approvalStateSchema, describeApproval } from "./describe-approval.ts";

const decisionSchema = z
  .strictObject({
    decision: z.enum(["approve", "reject"]),
    reason: z.string().max(2_000).optional().describe("Passed to the runtime and included in the event `tool.approval_resolved`."),
    raiseByUsd: budgetUsd
      .optional()
      .describe(
        "US dollars by which the maximum of the budget grows. Only to approve an approval of the kind `budget` whose budget has `maxCostUsd`. Without it, each reached maximum grows by that of the dispatch.",
      ),
  })
  .meta({ id: "ApprovalDecision", description: "The decision on a pending approval.", examples: [{ decision: "approve" }] });

/** `GET /api/v2/approvals` and `POST /api/v2/approvals/{approvalId}`. */
export const approvalRoutes: FastifyPluginAsyncZodOpenApi<{ approvals: Approvals }> = async (app, { approvals }) => {
  app.get(
    "/api/v2/approvals",
    {
      config: { scope: "read" },
      schema: {
        operationId: "listApprovals",
        tags: ["approvals"],
        summary: "List approvals",
        description: "Tool calls and budgets of your tenant that wait or waited for an approval, newest first unless `order` is `oldest`.",
        querystring: z.strictObject({
          ...pageQuery,
          state: approvalStateSchema.optional().describe("Only approvals in this state."),
          taskId: z.string().min(1).optional().describe("Only approvals of this task."),
          order: z.enum(["newest", "oldest"]).default("newest").describe("Which approvals come first. A cursor belongs to one order."),
        }),
        response: {
          200: { description: "A page of approvals.", content: { "application/json": { schema: pageSchema(approvalSchema) } } },
          ...problemResponses("invalid_request", "unauthenticated", "scope_missing"),
        },
      },
    },
    async (request, reply) => {
      await request.reserve(reply, PAGE_BYTES);
      const { limit, cursor, state, taskId, order } = request.query;
      const page = (after: number | null, size: number) =>
        approvals.list(request.principal.tenant, { state, taskId }, { order, after, limit: size });
      const found = await page(cursor ?? null, limit);
      const last = found.at(-1);
      // A page with long inputs is cut short, so a page shorter than `limit` need not be the last.
      const hasMore = last !== undefined && (await page(last.seq, 1)).length > 0;
      return toPage(found, hasMore, describeApproval, ({ seq }) => seq);
    },
  );

  app.post(
    "/api/v2/approvals/:approvalId",
    {
      config: { scope: "approve" },
      schema: {
        operationId: "decideApproval",
        tags: ["approvals"],
        summary: "Approve or reject a tool call or a budget",
        description: "The first decision applies; later ones are rejected with 409 `already_decided`.",
        params: z.object({ approvalId: z.string().describe("Id of the approval.") }),
        querystring: noQuery,
        body: decisionSchema,
        response: {
          200: { description: "The decided approval.", content: { "application/json": { schema: approvalSchema } } },
          ...problemResponses(
            ...bodyErrorCodes,
            "unauthenticated",
            "scope_missing",
            "not_found",
            "already_decided",
            "too_many_requests",
            "storage_unavailable",
          ),
        },
      },
    },
    async (request) => {
      const { reason = null, ...decision } = request.body;
      const { tenant, name: by } = request.principal;
      return describeApproval(await approvals.decide(tenant, request.params.approvalId, { ...decision, reason, by }));
    },
  );
};
