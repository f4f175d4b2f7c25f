import type { FastifyPluginAsyncZodOpenApi } from "fastify-zod-openapi";
import { z } from "zod";
import type { RepositoryList } from "../../queries/repository-list.ts";
import { pageQuery, pageSchema, toPage } from "../wire/pagination.ts";
import { problemResponses } from "../wire/problem.ts";
import { timestamp, toIsoOrNull } from "../wire/timestamps.ts";

const branchSchema = z.strictObject({
  name: z.string(),
  taskId: z.string().describe("The last task that has changed the branch."),
  headCommit: z.string(),
});

/** A repository in the API. */
const repositorySchema = z
  .strictObject({
    name: z.string(),
    defaultRef: z.string().describe("The ref of a dispatch that names none."),
    push: z.boolean().describe("Whether a dispatch may set `push`."),
    lastFetchAt: timestamp.nullable().describe("When this node last fetched it. Null if it has not."),
    branches: z.array(branchSchema).describe("The 100 newest branches that ended tasks of your tenant have left, by name."),
  })
  .meta({ id: "Repository", description: "A repository of the file BRIDGE_REPOSITORIES_FILE." });

/** `GET /api/v2/repositories`. */
export const repositoryRoutes: FastifyPluginAsyncZodOpenApi<{ repositories: RepositoryList }> = async (app, { repositories }) => {
  app.get(
    "/api/v2/repositories",
    {
      config: { scope: "read" },
      schema: {
        operationId: "listRepositories",
        tags: ["repositories"],
        summary: "List repositories",
        description:
          "The repositories in which tasks of your tenant can work, in the order of the file, with the stored branches of tasks.",
        querystring: z.strictObject(pageQuery),
        response: {
          200: { description: "A page of repositories.", content: { "application/json": { schema: pageSchema(repositorySchema) } } },
          ...problemResponses("invalid_request", "unauthenticated", "scope_missing"),
        },
      },
    },
    async (request) => {
      const { limit, cursor: offset = 0 } = request.query;
      const all = (await repositories.list(request.principal.tenant)).map((repository, index) => ({ repository, position: index + 1 }));
      return toPage(
        all.slice(offset, offset + limit),
        all.length > offset + limit,
        ({ repository: { lastFetchAt, ...repository } }) => ({ ...repository, lastFetchAt: toIsoOrNull(lastFetchAt) }),
        ({ position }) => position,
      );
    },
  );
};
