import swagger from "@fastify/swagger";
import swaggerUi from "@fastify/swagger-ui";
import type { FastifyInstance } from "fastify";
import { fastifyZodOpenApiPlugin, fastifyZodOpenApiTransformers } from "fastify-zod-openapi";
import { stringify } from "yaml";
import { MAX_JSON_DEPTH } from "../dispatch/canonical-json.ts";
import { MAX_JSON_VALUES } from "./parse-json.ts";

/** Without `upgrade-insecure-requests`: the page is often served by plain http on loopback. */
const PAGE_POLICY =
  "default-src 'self'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; object-src 'none'; base-uri 'self'; frame-ancestors 'self'";

const DESCRIPTION = [
  "One durable HTTP endpoint in front of every AI-agent runtime.",
  `A request body holds at most ${MAX_JSON_VALUES} JSON values (the body itself, each member of an object, each element of an array; 413 \`too_large\`)`,
  `in at most ${MAX_JSON_DEPTH} levels (400 \`invalid_request\`). Its size in bytes is limited by BRIDGE_BODY_LIMIT (413 \`too_large\`).`,
].join(" ");

/** Describes every route registered from here on, as OpenAPI 3.1 at `/openapi.json` and `/openapi.yaml`, and as a page at `/docs`. */
export async function registerApiDocs(app: FastifyInstance, version: string): Promise<void> {
  await app.register(fastifyZodOpenApiPlugin);
  await app.register(swagger, {
    openapi: {
      openapi: "3.1.0",
      info: { title: "Bridge", version, description: DESCRIPTION },
      components: { securitySchemes: { token: { type: "http", scheme: "bearer" } } },
      security: [{ token: [] }],
    },
    transform: fastifyZodOpenApiTransformers.transform,
    transformObject: (described) => nameRestOfPath(markOptionalBodies(fastifyZodOpenApiTransformers.transformObject(described))),
  });
  app.addHook("onRoute", (route) => {
    if (route.url.startsWith("/docs")) route.config = { ...route.config, public: true };
  });
  await app.register(swaggerUi, { routePrefix: "/docs", staticCSP: PAGE_POLICY });
  app.get("/openapi.json", { config: { public: true }, schema: { hide: true } }, async () => app.swagger());
  // Made once: the document does not change after the start.
  let yaml: string | undefined;
  app.get("/openapi.yaml", { config: { public: true }, schema: { hide: true } }, async (_request, reply) => {
    yaml ??= writeOpenapiYaml(app.swagger());
    return reply.type("application/yaml; charset=utf-8").send(yaml);
  });
}

/** The document as `/openapi.yaml` and the file of this name have it. */
export const writeOpenapiYaml = (document: object): string => stringify(document, { aliasDuplicateObjects: false, lineWidth: 140 });

/** The rest of a path, which the router calls `*`, is `path` to readers. */
function nameRestOfPath<Document>(document: Document): Document {
  const { paths } = document as { paths: Record<string, Record<string, { parameters?: { name: string }[] }>> };
  for (const [url, operations] of Object.entries(paths)) {
    if (!url.endsWith("{*}")) continue;
    for (const parameter of Object.values(operations).flatMap(({ parameters = [] }) => parameters))
      if (parameter.name === "*") parameter.name = "path";
    delete paths[url];
    paths[url.replace("{*}", "{path}")] = operations;
  }
  return document;
}

/** Every body comes out as required; the ones that are not carry a mark, which says so and does not belong on the wire. */
function markOptionalBodies<Document>(document: Document): Document {
  const mark = "x-fastify-zod-openapi-optional";
  const { paths } = document as {
    paths: Record<
      string,
      Record<string, { requestBody?: { required: boolean; content: Record<string, { schema: Record<string, unknown> }> } }>
    >;
  };
  for (const { requestBody } of Object.values(paths).flatMap((operations) => Object.values(operations))) {
    for (const { schema } of Object.values(requestBody?.content ?? {})) {
      if (requestBody !== undefined && schema[mark] === true) requestBody.required = false;
      delete schema[mark];
    }
  }
  return document;
}
