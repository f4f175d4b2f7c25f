import type { FastifyInstance } from "fastify";
import type { FastifyZodOpenApiTypeProvider } from "fastify-zod-openapi";
import { z } from "zod";
import { BridgeError } from "../errors.ts";
import type { CallManager } from "./call-manager.ts";
import { emptyBody, noQuery } from "./empty.ts";
import { refusePrecondition, sendTagged, sendWritten } from "./etag.ts";
import {
  contentBody,
  listResponses,
  namePageQuery,
  nameParams,
  pageByName,
  preconditionHeaders,
  providerParams,
  readContent,
  readResponses,
  writeRefusals,
  written,
} from "./gateway-schemas.ts";
import { putIfMatch, writeIfMatch } from "./precondition.ts";

const entrySchema = z
  .looseObject({ name: z.string() })
  .meta({ id: "SkillEntry", description: "What is beside the name is the runtime's own." });
const skillSchema = z.strictObject({ name: z.string(), content: z.string(), etag: z.string() }).meta({ id: "Skill" });
const installedSchema = z
  .strictObject({ installed: z.array(z.string()), detail: z.string().nullable() })
  .meta({ id: "InstalledDependencies" });

/** `/api/v2/gateway/{provider}/skills`, `…/{name}` and `…/{name}/dependencies`. */
export function registerSkillRoutes(server: FastifyInstance, callManager: CallManager): void {
  const app = server.withTypeProvider<FastifyZodOpenApiTypeProvider>();
  const config = { scope: "manage" } as const;
  const route = { url: "/api/v2/gateway/:provider/skills/:name", config } as const;
  const common = { tags: ["gateway"], params: z.object({ ...providerParams, ...nameParams }), querystring: noQuery };

  app.get(
    "/api/v2/gateway/:provider/skills",
    {
      config,
      schema: {
        tags: ["gateway"],
        summary: "List the skills of a runtime, by name",
        params: z.object(providerParams),
        querystring: namePageQuery,
        response: listResponses("A page of skills.", entrySchema),
      },
    },
    async (request, reply) => {
      const skills = await callManager(request, "skills", (manager) => manager.listSkills());
      const page = pageByName(skills, ({ name }) => name, request.query);
      return sendTagged(request, reply, page);
    },
  );

  app.route({
    ...route,
    method: "GET",
    schema: { ...common, summary: "One skill", response: readResponses("The skill.", skillSchema) },
    handler: async (request, reply) => {
      const skill = await callManager(request, "skills", (manager) => manager.readSkill(request.params.name));
      if (skill === null) throw new BridgeError("not_found", "There is no such skill.");
      return sendTagged(request, reply, skill, skill.etag);
    },
  });

  app.route({
    ...route,
    method: "PUT",
    schema: {
      ...common,
      summary: "Write a skill",
      headers: preconditionHeaders,
      body: contentBody,
      response: { 200: written("Replaced.", skillSchema), 201: written("Made.", skillSchema), ...writeRefusals() },
    },
    handler: async (request, reply) => {
      const { name } = request.params;
      const content = readContent(request.body);
      const { isNew, result } = await callManager(request, "skills", (manager, signal) =>
        putIfMatch(request, signal, {
          what: "skill",
          read: () => manager.readSkill(name),
          write: (ifMatch) => manager.writeSkill(name, content, ifMatch),
        }),
      );
      return sendWritten(reply, isNew ? 201 : 200, result, result.etag);
    },
  });

  app.route({
    ...route,
    method: "DELETE",
    schema: {
      ...common,
      summary: "Delete a skill",
      headers: preconditionHeaders,
      response: { 204: { description: "Deleted." }, ...writeRefusals() },
    },
    handler: async (request, reply) => {
      const { name } = request.params;
      await callManager(request, "skills", (manager, signal) =>
        writeIfMatch(request, signal, {
          what: "skill",
          read: () => manager.readSkill(name),
          write: (ifMatch) => manager.deleteSkill(name, ifMatch),
        }),
      );
      return reply.code(204).send();
    },
  });

  app.post(
    "/api/v2/gateway/:provider/skills/:name/dependencies",
    {
      config,
      schema: {
        ...common,
        summary: "Install what a skill needs",
        body: emptyBody,
        response: {
          200: { description: "What was installed.", content: { "application/json": { schema: installedSchema } } },
          ...writeRefusals(),
        },
      },
    },
    async (request) => {
      refusePrecondition(request);
      return await callManager(request, "skills", (manager) => manager.installSkillDependencies(request.params.name));
    },
  );
}
