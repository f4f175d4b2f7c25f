import type { FastifyPluginAsyncZodOpenApi } from "fastify-zod-openapi";
import { z } from "zod";
import { problemResponses } from "../wire/problem.ts";
import { noQuery } from "../wire/request-schemas.ts";

const NAME = "Bridge";
const DESCRIPTION = "One HTTP endpoint in front of every AI-agent runtime.";

/** Relative paths, which are also valid behind a proxy. */
const links = {
  console: "/ui/",
  docs: "/docs",
  openapi: "/openapi.json",
  openapiYaml: "/openapi.yaml",
  health: "/health",
  ready: "/readyz",
  dispatch: "/api/v2/dispatch",
  tasks: "/api/v2/tasks",
  adapters: "/api/v2/adapters",
  workspaces: "/api/v2/workspaces",
  events: "/api/events",
  webSocket: "/ws/bridge",
} as const;

const infoSchema = z
  .strictObject({
    name: z.literal(NAME),
    version: z.string(),
    description: z.string(),
    callbackRetries: z
      .strictObject({ retries: z.number().int().nonnegative(), seconds: z.number().int().nonnegative() })
      .describe("How often a callback is retried, and for how many seconds after its first attempt."),
    links: z.strictObject(
      Object.fromEntries(Object.keys(links).map((name) => [name, z.string()])) as Record<keyof typeof links, z.ZodString>,
    ),
  })
  .meta({ id: "ServiceInfo" });

interface ServiceInfoOptions {
  version: string;
  callbackRetries: { retries: number; seconds: number };
}

/** `GET /`: name, version and links to the documentation, as JSON. Browsers are redirected to the console. */
export const serviceInfoRoutes: FastifyPluginAsyncZodOpenApi<ServiceInfoOptions> = async (app, { version, callbackRetries }) => {
  const info: z.infer<typeof infoSchema> = { name: NAME, version, description: DESCRIPTION, callbackRetries, links };

  app.get(
    "/",
    {
      config: { public: true },
      schema: {
        operationId: "getServiceInfo",
        tags: ["operations"],
        summary: "Get information about this service",
        description:
          "Name, version and links as JSON. A request that accepts `text/html`, as those of browsers do, is redirected to the console.",
        security: [],
        querystring: noQuery,
        "x-response-headers": { 302: ["Location"] },
        response: {
          200: {
            description: "Name, version and links.",
            content: { "application/json": { schema: infoSchema } },
          },
          302: { description: "The console, for requests that accept `text/html`." },
          ...problemResponses("invalid_request"),
        },
      },
    },
    async (request, reply) => {
      reply.header("vary", "accept");
      // Relative, so that it is also correct behind a proxy with a path prefix.
      return acceptsHtml(request.headers.accept) ? reply.code(302).header("location", "ui/").send() : info;
    },
  );
};

/** Returns whether the header lists `text/html`, as browsers do. The wildcard of other clients does not count. */
const acceptsHtml = (accept = ""): boolean => accept.split(",").some((range) => /^\s*text\/html\s*(;(?!.*q=0(\.0*)?\s*$)|$)/i.test(range));
