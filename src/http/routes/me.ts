import type { FastifyRequest } from "fastify";
import type { FastifyPluginAsyncZodOpenApi } from "fastify-zod-openapi";
import { z } from "zod";
import { problemResponses } from "../wire/problem.ts";
import { noQuery } from "../wire/request-schemas.ts";
import { timestamp, toIsoOrNull } from "../wire/timestamps.ts";

type Scope = FastifyRequest["principal"]["scopes"] extends ReadonlySet<infer Name> ? Name : never;

/** Options of the route. */
export interface MeRouteOptions {
  /** All scopes, in the order in which they are listed. */
  scopes: readonly Scope[];
  /** Whether callbacks are signed. */
  signsCallbacks: boolean;
}

const createIdentitySchema = (scopes: readonly Scope[]) =>
  z
    .strictObject({
      name: z.string().describe("Name of the token. Logs and decisions on approvals contain it."),
      tenant: z.string(),
      scopes: z.array(z.enum(scopes)),
      expiresAt: timestamp.nullable().describe("Null if the token never expires."),
      signsCallbacks: z.boolean().describe("Whether Bridge signs callbacks, because BRIDGE_CALLBACK_SECRETS is set."),
    })
    .meta({ id: "Identity", description: "The name, tenant and scopes of a token." });

/** `GET /api/v2/me`. */
export const meRoutes: FastifyPluginAsyncZodOpenApi<MeRouteOptions> = async (app, { scopes, signsCallbacks }) => {
  app.get(
    "/api/v2/me",
    {
      config: { scope: "any" },
      schema: {
        operationId: "getIdentity",
        tags: ["access"],
        summary: "Get your identity",
        description:
          "The name, tenant, scopes and expiry of the token of this request, but not the token itself. Needs no particular scope.",
        querystring: noQuery,
        response: {
          200: { description: "Your identity.", content: { "application/json": { schema: createIdentitySchema(scopes) } } },
          ...problemResponses("invalid_request", "unauthenticated"),
        },
      },
    },
    async ({ principal }) => ({
      name: principal.name,
      tenant: principal.tenant,
      scopes: scopes.filter((scope) => principal.scopes.has(scope)),
      expiresAt: toIsoOrNull(principal.expiresAt),
      signsCallbacks,
    }),
  );
};
