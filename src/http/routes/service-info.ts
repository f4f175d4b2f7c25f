import type { FastifyReply } from "fastify";
import type { FastifyPluginAsyncZodOpenApi } from "fastify-zod-openapi";
import { z } from "zod";
import { problemResponses } from "../wire/problem.ts";
import { noQuery } from "../wire/request-schemas.ts";

const NAME = "Bridge";
const DESCRIPTION = "One HTTP endpoint in front of every AI-agent runtime.";

/** Relative paths, which are also valid behind a proxy. */
const links = {
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
    links: z.strictObject(
      Object.fromEntries(Object.keys(links).map((name) => [name, z.string()])) as Record<keyof typeof links, z.ZodString>,
    ),
  })
  .meta({ id: "ServiceInfo" });

/** The page loads nothing from other origins and runs no scripts. */
const PAGE_POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/** `GET /`: name, version and links to the documentation, as JSON, or as an HTML page for browsers. */
export const serviceInfoRoutes: FastifyPluginAsyncZodOpenApi<{ version: string }> = async (app, { version }) => {
  const info: z.infer<typeof infoSchema> = { name: NAME, version, description: DESCRIPTION, links };
  const page = renderPage(version);

  app.get(
    "/",
    {
      config: { public: true },
      schema: {
        operationId: "getServiceInfo",
        tags: ["operations"],
        summary: "Get information about this service",
        description: "Name, version and links: as an HTML page if the request accepts `text/html`, otherwise as JSON.",
        security: [],
        querystring: noQuery,
        response: {
          200: {
            description: "Name, version and links.",
            content: { "application/json": { schema: infoSchema }, "text/html": { schema: z.string() } },
          },
          ...problemResponses("invalid_request"),
        },
      },
    },
    async (request, reply) => {
      reply.header("vary", "accept");
      return acceptsHtml(request.headers.accept) ? sendPage(reply, page) : info;
    },
  );
};

/** Returns whether the header lists `text/html`, as browsers do. The wildcard of other clients does not count. */
const acceptsHtml = (accept = ""): boolean => accept.split(",").some((range) => /^\s*text\/html\s*(;(?!.*q=0(\.0*)?\s*$)|$)/i.test(range));

function sendPage(reply: FastifyReply, page: string): never {
  return reply.type("text/html; charset=utf-8").header("content-security-policy", PAGE_POLICY).send(page) as never;
}

const renderPage = (version: string): string => `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>${NAME}</title>
<style>body { font: 1rem/1.6 system-ui, sans-serif; max-width: 40rem; margin: 4rem auto; padding: 0 1rem }</style>
<h1>${NAME} ${version}</h1>
<p>${DESCRIPTION}</p>
<ul>
<li><a href="${links.docs}">API documentation</a></li>
<li><a href="${links.openapi}">OpenAPI as JSON</a>, <a href="${links.openapiYaml}">as YAML</a></li>
<li><a href="${links.ready}">Readiness</a></li>
</ul>
</html>
`;
