import { type FastifyPluginAsyncZodOpenApi, validatorCompiler } from "fastify-zod-openapi";
import { z } from "zod";
import type { DispatchPreview, PreviewDispatch } from "../../dispatch/preview-dispatch.ts";
import { BridgeError } from "../../errors.ts";
import type { createDescribedDispatchSchema } from "../../requests/dispatch-schema.ts";
import { bodyErrorCodes, problemResponses, problemSchema, toProblem } from "../wire/problem.ts";
import { noQuery } from "../wire/request-schemas.ts";
import { connectionSchema } from "../wire/result-schema.ts";
import { acceptedRepositorySchema, describeAcceptedRepository } from "./dispatch.ts";

/** Options of the route. */
export interface DispatchCheckOptions {
  /** Describes the body of a dispatch. */
  bodySchema: ReturnType<typeof createDescribedDispatchSchema>;
  previewDispatch: PreviewDispatch;
}

const previewSchema = z.strictObject({
  provider: z.string(),
  agentId: z.string(),
  replayed: z.boolean().describe("Whether the dispatch repeats an earlier one, so that it starts nothing."),
  connection: connectionSchema.nullable().describe("What the last health check of the adapter found on this node."),
  queueAhead: z.number().int().nonnegative().describe("Queued tasks of the adapter, of all tenants. Tenants take turns."),
  resolved: z.strictObject({
    model: z.string().nullable().describe("Null for the default of the runtime."),
    profile: z.enum(["inspect", "modify"]),
    approvals: z.enum(["ask", "deny", "allow"]),
    timeoutSeconds: z.number(),
  }),
  council: z
    .strictObject({
      roles: z.array(z.strictObject({ title: z.string(), domain: z.string() })),
      runtimes: z.array(
        z.strictObject({
          provider: z.string(),
          models: z
            .array(z.string())
            .describe("Empty for the default of the runtime. The council omits models that the runtime does not list."),
          fault: z.string().nullable().describe("Why the runtime would not answer. Null if it would."),
        }),
      ),
    })
    .nullable()
    .describe(
      "Who would answer, if the adapter is a council: each role on each runtime. Null for other adapters, and if the agent lives on another node.",
    ),
  repository: acceptedRepositorySchema.nullable(),
  candidates: z
    .array(
      z.strictObject({
        provider: z.string(),
        model: z.string().nullable().describe("Null for the default of the runtime."),
        canRun: z.boolean().describe("Whether the candidate could run the task on this node now."),
        reason: z.string().nullable().describe("Why not; null if it could."),
      }),
    )
    .describe("Where the task could run, in the order in which they are tried. Empty if the dispatch has no fallbacks."),
  warnings: z.array(z.string()).describe("What to know before dispatching, such as an adapter that is degraded."),
});
const checkSchema = z
  .strictObject({
    wouldAnswer: z.number().int().describe("Status that the dispatch would get."),
    problem: problemSchema.nullable().describe("The body of that response, if the dispatch would be rejected."),
    task: previewSchema.nullable().describe("The task that the dispatch would create. Null if it would be rejected."),
  })
  .meta({
    id: "DispatchCheck",
    description: "What a dispatch would do.",
    examples: [
      {
        wouldAnswer: 202,
        problem: null,
        task: {
          ...{ provider: "command", agentId: "auditor", replayed: false, connection: "cli", queueAhead: 0 },
          resolved: { model: null, profile: "modify", approvals: "allow", timeoutSeconds: 600 },
          council: null,
          repository: null,
          candidates: [],
          warnings: [],
        },
      },
    ],
  });

/** `POST /api/v2/dispatch/check`. */
export const dispatchCheckRoutes: FastifyPluginAsyncZodOpenApi<DispatchCheckOptions> = async (app, { bodySchema, previewDispatch }) => {
  app.post(
    "/api/v2/dispatch/check",
    {
      config: { scope: "dispatch", shedsLoad: true },
      // `previewDispatch` validates the body, and its faults are part of the response.
      validatorCompiler: (route) => (route.httpPart === "querystring" ? validatorCompiler(route as never) : (value) => ({ value })),
      schema: {
        operationId: "checkDispatch",
        tags: ["tasks"],
        summary: "Check a dispatch",
        description:
          "Checks the body of a dispatch, and responds with what the dispatch would do. Stores and starts nothing. Limits of requests and of the length of the body apply as to a dispatch.",
        querystring: noQuery,
        headers: z.object({ "idempotency-key": z.string().optional().describe("The `taskId`, if the body has none.") }),
        body: bodySchema,
        response: {
          200: { description: "What the dispatch would do.", content: { "application/json": { schema: checkSchema } } },
          ...problemResponses(...bodyErrorCodes, "unauthenticated", "scope_missing", "too_many_requests"),
        },
      },
    },
    async (request) => {
      const { "idempotency-key": idempotencyKey } = request.headers;
      const { tenant, name } = request.principal;
      try {
        return toAcceptance(await previewDispatch(request.body, { tenant, tokenName: name, idempotencyKey }));
      } catch (error) {
        if (!(error instanceof BridgeError)) throw error;
        return { wouldAnswer: error.httpStatus, problem: toProblem(error, request.id), task: null };
      }
    },
  );
};

const toAcceptance = ({ warnings, candidates, repository, ...task }: DispatchPreview): z.infer<typeof checkSchema> => ({
  wouldAnswer: 202,
  problem: null,
  task: { ...task, repository: describeAcceptedRepository(repository ?? undefined), candidates: [...candidates], warnings: [...warnings] },
});
