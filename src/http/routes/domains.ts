import { createTurns } from "@hak2i/async-kit";
import type { FastifyReply, FastifyRequest, onRequestAsyncHookHandler } from "fastify";
import type { FastifyPluginAsyncZodOpenApi } from "fastify-zod-openapi";
import { z } from "zod";
import { PAGE_BYTES } from "../../access/client-memory.ts";
import { agentIdPattern } from "../../requests/dispatch-schema.ts";
import type { Workspaces } from "../../workspaces/workspace-directories.ts";
import { createClosedSignal } from "../wire/closed-signal.ts";
import { pageQuery, toPage } from "../wire/pagination.ts";
import { forwardingCodes, problemResponses } from "../wire/problem.ts";

const domainSchema = z
  .strictObject({
    name: z.string(),
    expert: z.string().describe("Title of the expert."),
    focus: z.array(z.string()).describe("Topics that the expert examines."),
    standards: z.array(z.string()).describe("Standards that the expert applies."),
    instructions: z
      .string()
      .nullable()
      .describe(
        "Instructions in the prompts of the expert, with placeholders such as `{scope}`. Null if the prompts contain only focus and standards.",
      ),
    signals: z.array(z.string()).describe("Words and phrases that make `deep-council` consider the domain for a task that contains them."),
    source: z
      .enum(["built-in", "workspace"])
      .describe("`workspace`: the workspace defines the domain, or overrides fields of a built-in one."),
  })
  .meta({
    id: "Domain",
    description: "A domain for which councils have an expert. The fields up to `signals` are those of `custom_domains`.",
  });

const domainPageSchema = z
  .strictObject({
    data: z.array(domainSchema),
    meta: z.strictObject({
      nextCursor: z.string().nullable().describe("The `cursor` of the next page; null on the last one."),
      settingsFault: z
        .string()
        .nullable()
        .describe("The faults of `.bridge-settings.json` in the workspace, and which parts of it are not used; null without faults."),
    }),
  })
  .meta({ id: "DomainPage" });

/** Options of the route. */
interface DomainRouteOptions {
  /** Lists the domains of councils, including those that the workspace in this directory defines. */
  listDomains(directory: string | null): Promise<{ domains: z.infer<typeof domainSchema>[]; fault: string | null }>;
  workspaces: Pick<Workspaces, "workspaceOf">;
  /** Passes requests about a workspace to the node of its agent. */
  forward: onRequestAsyncHookHandler;
}

/** `GET /api/v2/domains`. */
export const domainRoutes: FastifyPluginAsyncZodOpenApi<DomainRouteOptions> = async (app, { listDomains, workspaces, forward }) => {
  app.addHook("onRequest", forward);
  // Reads one settings file of a tenant at a time, so that many requests do not keep many files open and in memory.
  const turns = createTurns();

  async function listOf(workspace: string, request: FastifyRequest, reply: FastifyReply) {
    const { tenant } = request.principal;
    await request.reserve(reply, PAGE_BYTES);
    return turns.take(tenant, () => listDomains(workspaces.workspaceOf(tenant, workspace)), createClosedSignal(reply));
  }

  app.get(
    "/api/v2/domains",
    {
      config: { scope: "read" },
      schema: {
        operationId: "listDomains",
        tags: ["councils"],
        summary: "List domains",
        description:
          "The domains for which councils have an expert. With `workspace`, the list includes the domains that this workspace defines or overrides; new ones come first. A dispatch can define more with `custom_domains`.",
        querystring: z.strictObject({
          ...pageQuery,
          workspace: z
            .string()
            .regex(agentIdPattern, "must be 1 to 128 of A-Z a-z 0-9 _ -")
            .optional()
            .describe("Id of a workspace, which is the id of its agent. Default: only built-in domains."),
        }),
        response: {
          200: { description: "A page of domains.", content: { "application/json": { schema: domainPageSchema } } },
          ...problemResponses("invalid_request", "unauthenticated", "scope_missing", ...forwardingCodes),
        },
      },
    },
    async (request, reply) => {
      const { limit, cursor: offset = 0, workspace } = request.query;
      const { domains, fault } = workspace === undefined ? await listDomains(null) : await listOf(workspace, request, reply);
      const entries = domains.map((domain, index) => ({ domain, position: index + 1 }));
      const page = toPage(
        entries.slice(offset, offset + limit),
        entries.length > offset + limit,
        ({ domain }) => domain,
        ({ position }) => position,
      );
      return { ...page, meta: { ...page.meta, settingsFault: fault } };
    },
  );
};
