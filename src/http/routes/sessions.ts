import type { FastifyRequest } from "fastify";
import type { FastifyPluginAsyncZodOpenApi } from "fastify-zod-openapi";
import { z } from "zod";
import { BridgeError } from "../../errors.ts";
import { readBearerToken } from "../wire/bearer-token.ts";
import { bodyErrorCodes, problemResponses } from "../wire/problem.ts";
import { emptyBody, noQuery } from "../wire/request-schemas.ts";
import { timestamp, toIso } from "../wire/timestamps.ts";

type Principal = FastifyRequest["principal"];

/** What the routes use. Times are in ms since the epoch. */
export interface SessionRouteOptions {
  tickets: { issue(principal: Principal, request: { purpose: "signIn" }): Promise<{ ticket: string; expiresAt: number }> };
  sessions: {
    open(ticket: string): Promise<{ token: string; expiresAt: number }>;
    isSession(token: string): boolean;
    close(token: string): Promise<boolean>;
  };
}

/** Maximum size of a body, which is read without a token. */
const MAX_BODY_BYTES = 1024;

const linkSchema = z
  .strictObject({
    ticket: z.string().describe("Valid once, until `expiresAt`."),
    path: z.string().describe("Path and fragment of the console that signs a browser in, relative to the address of Bridge."),
    expiresAt: timestamp,
  })
  .meta({ id: "SignInLink" });
const sessionSchema = z
  .strictObject({ token: z.string().describe("Replaces the token in the header `Authorization`."), expiresAt: timestamp })
  .meta({ id: "Session" });
const sessionBody = z
  .strictObject({ ticket: z.string().max(100).describe("The ticket of a link.") })
  .meta({ id: "SessionRequest", examples: [{ ticket: "lnk_…" }] });

/** The path and fragment of the console that redeems a ticket. The fragment is not sent to Bridge, so no log contains it. */
export const toSignInPath = (ticket: string): string => `ui/#t=${ticket}`;

/** `POST /api/v2/sessions/link`, `POST /api/v2/sessions` and `DELETE /api/v2/sessions/current`: the sign-in of browsers by a link. */
export const sessionRoutes: FastifyPluginAsyncZodOpenApi<SessionRouteOptions> = async (app, { sessions, tickets }) => {
  app.post(
    "/api/v2/sessions/link",
    {
      config: { scope: "any" },
      schema: {
        operationId: "createSignInLink",
        tags: ["access"],
        summary: "Create a link that signs in to the console",
        description: "The link is valid once, within 60 seconds. The session has the name, tenant and scopes of your token.",
        querystring: noQuery,
        body: emptyBody,
        response: {
          201: { description: "The link.", content: { "application/json": { schema: linkSchema } } },
          ...problemResponses(
            ...bodyErrorCodes,
            "unauthenticated",
            "scope_missing",
            "too_many_requests",
            "overloaded",
            "storage_unavailable",
          ),
        },
      },
    },
    async (request, reply) => {
      const { ticket, expiresAt } = await tickets.issue(request.principal, { purpose: "signIn" });
      reply.code(201).header("cache-control", "no-store");
      return { ticket, path: toSignInPath(ticket), expiresAt: toIso(expiresAt) };
    },
  );

  app.post(
    "/api/v2/sessions",
    {
      config: { public: true },
      bodyLimit: MAX_BODY_BYTES,
      schema: {
        operationId: "createSession",
        tags: ["access"],
        summary: "Open a session with a sign-in link",
        description:
          "Exchanges the ticket of a link for a session. Its token is valid for 12 hours, or as long as the token that created the link.",
        security: [],
        querystring: noQuery,
        body: sessionBody,
        response: {
          201: { description: "The session.", content: { "application/json": { schema: sessionSchema } } },
          ...problemResponses(...bodyErrorCodes, "unauthenticated", "overloaded", "storage_unavailable"),
        },
      },
    },
    async (request, reply) => {
      const { token, expiresAt } = await sessions.open(request.body.ticket);
      reply.code(201).header("cache-control", "no-store");
      return { token, expiresAt: toIso(expiresAt) };
    },
  );

  app.delete(
    "/api/v2/sessions/current",
    {
      config: { scope: "any" },
      schema: {
        operationId: "deleteSession",
        tags: ["access"],
        summary: "End your session",
        description: "Bridge no longer accepts the token of the session.",
        querystring: noQuery,
        body: emptyBody,
        response: {
          204: { description: "The session has ended." },
          ...problemResponses(
            ...bodyErrorCodes,
            "unauthenticated",
            "scope_missing",
            "not_found",
            "too_many_requests",
            "storage_unavailable",
          ),
        },
      },
    },
    async (request, reply) => {
      const token = readBearerToken(request) ?? "";
      if (!sessions.isSession(token) || !(await sessions.close(token)))
        throw new BridgeError("not_found", "This request uses a token, or a session that has ended. Only a session can be ended.");
      return reply.code(204).send();
    },
  );
};
