import type { FastifyInstance } from "fastify";
import type { FastifyZodOpenApiTypeProvider } from "fastify-zod-openapi";
import { z } from "zod";
import { emptyBody, noQuery } from "../wire/empty.ts";
import { refusePrecondition, sendTagged } from "../wire/etag.ts";
import type { CallManager } from "./call-manager.ts";
import { registerDocumentRoutes } from "./documents.ts";
import { listResponses, namePageQuery, nameParams, pageByName, providerParams, readHeaders, writeRefusals } from "./schemas.ts";

const entrySchema = z
  .looseObject({ name: z.string() })
  .meta({ id: "SkillEntry", description: "A skill in a list; further fields are the runtime's own." });
const skillSchema = z.strictObject({ name: z.string(), content: z.string(), etag: z.string() }).meta({ id: "Skill" });
const installedSchema = z
  .strictObject({ installed: z.array(z.string()), detail: z.string().nullable() })
  .meta({ id: "InstalledDependencies" });

/** `/api/v2/gateway/{provider}/skills`, `…/{name}` and `…/{name}/dependencies`. */
export function registerSkillRoutes(server: FastifyInstance, callManager: CallManager): void {
  const app = server.withTypeProvider<FastifyZodOpenApiTypeProvider>();
  const config = { scope: "manage" } as const;
  const params = z.object({ ...providerParams, ...nameParams });

  app.get(
    "/api/v2/gateway/:provider/skills",
    {
      config,
      schema: {
        operationId: "listSkills",
        tags: ["gateway"],
        summary: "List the skills of a runtime",
        description: "Sorted by name.",
        params: z.object(providerParams),
        querystring: namePageQuery,
        headers: readHeaders,
        response: listResponses("A page of skills.", entrySchema),
      },
    },
    async (request, reply) => {
      const skills = await callManager(request, "skills", (manager, signal) => manager.listSkills({ signal }));
      const page = pageByName(skills, ({ name }) => name, request.query);
      return sendTagged(request, reply, page);
    },
  );

  registerDocumentRoutes(server, callManager, {
    url: "/api/v2/gateway/:provider/skills/:name",
    kind: "skills",
    params,
    schema: skillSchema,
    what: "skill",
    whatInFull: "skill",
    idOf: "Skill",
    of: (manager, { name }, call) => ({
      read: () => manager.readSkill(name, call),
      write: (content, ifMatch) => manager.writeSkill(name, content, ifMatch, call),
      delete: (ifMatch) => manager.deleteSkill(name, ifMatch, call),
    }),
  });

  app.post(
    "/api/v2/gateway/:provider/skills/:name/dependencies",
    {
      config,
      schema: {
        operationId: "installSkillDependencies",
        tags: ["gateway"],
        params,
        querystring: noQuery,
        summary: "Install the dependencies of a skill",
        description: "The runtime installs the programs and packages that the skill needs.",
        body: emptyBody,
        response: {
          200: { description: "What was installed.", content: { "application/json": { schema: installedSchema } } },
          ...writeRefusals(),
        },
      },
    },
    async (request) => {
      refusePrecondition(request);
      return await callManager(request, "skills", (manager, signal) => manager.installSkillDependencies(request.params.name, { signal }));
    },
  );
}
