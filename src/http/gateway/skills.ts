import type { FastifyPluginAsyncZodOpenApi } from "fastify-zod-openapi";
import { z } from "zod";
import { rejectPrecondition, sendWithEtag } from "../wire/etag.ts";
import { emptyBody, noQuery } from "../wire/request-schemas.ts";
import type { CallManager } from "./call-manager.ts";
import { documentRoutes } from "./documents.ts";
import {
  conditionalReadHeaders,
  describeListResponses,
  describeWriteErrors,
  namePageQuery,
  nameParams,
  pageByName,
  providerParams,
} from "./schemas.ts";

const entrySchema = z
  .looseObject({ name: z.string() })
  .meta({ id: "SkillEntry", description: "A skill in a list. Further fields depend on the runtime." });
const skillSchema = z.strictObject({ name: z.string(), content: z.string(), etag: z.string() }).meta({ id: "Skill" });
const installedSchema = z
  .strictObject({ installed: z.array(z.string()), detail: z.string().nullable() })
  .meta({ id: "InstalledDependencies" });

const skillParams = z.object({ ...providerParams, ...nameParams });

/** `/api/v2/gateway/{provider}/skills`, `…/{name}` and `…/{name}/dependencies`. */
export const skillRoutes: FastifyPluginAsyncZodOpenApi<{ callManager: CallManager }> = async (app, { callManager }) => {
  const config = { scope: "manage" } as const;

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
        headers: conditionalReadHeaders,
        response: describeListResponses("A page of skills.", entrySchema),
      },
    },
    async (request, reply) => {
      const skills = await callManager(request, "skills", (manager, signal) => manager.listSkills({ signal }));
      const page = pageByName(skills, ({ name }) => name, request.query);
      return sendWithEtag(request, reply, page);
    },
  );

  await app.register(documentRoutes<"skills", z.infer<typeof skillParams>>, {
    callManager,
    url: "/api/v2/gateway/:provider/skills/:name",
    kind: "skills",
    params: skillParams,
    schema: skillSchema,
    noun: "skill",
    fullNoun: "skill",
    operationSuffix: "Skill",
    open: (manager, { name }, call) => ({
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
        params: skillParams,
        querystring: noQuery,
        summary: "Install the dependencies of a skill",
        description: "The runtime installs the programs and packages that the skill needs.",
        body: emptyBody,
        response: {
          200: { description: "The installed dependencies.", content: { "application/json": { schema: installedSchema } } },
          ...describeWriteErrors(),
        },
      },
    },
    async (request) => {
      rejectPrecondition(request);
      return await callManager(request, "skills", (manager, signal) => manager.installSkillDependencies(request.params.name, { signal }));
    },
  );
};
