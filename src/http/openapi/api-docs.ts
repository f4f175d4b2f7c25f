import swagger from "@fastify/swagger";
import swaggerUi from "@fastify/swagger-ui";
import type { FastifyInstance } from "fastify";
import { fastifyZodOpenApiPlugin, fastifyZodOpenApiTransformers } from "fastify-zod-openapi";
import { stringify } from "yaml";
import type { z } from "zod";
import { describeApi } from "./api-description.ts";
import { callbackBodySchema } from "./callback-webhook.ts";
import { completeApiDescription } from "./complete-api-description.ts";

/** Without `upgrade-insecure-requests`: the page is often served by plain http on loopback. */
const PAGE_POLICY =
  "default-src 'self'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; object-src 'none'; base-uri 'self'; frame-ancestors 'self'";

/** The favicon: a bridge over water. */
const ICON =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><path d="M2 22h28M5 22a11 11 0 0 1 22 0M10 22v-8m6 8V11m6 11v-8" fill="none" stroke="#2563eb" stroke-width="2.5"/></svg>';

/** Describes every route registered from here on, as OpenAPI 3.1 at `/openapi.json` and `/openapi.yaml`, and as a page at `/docs`. */
export async function registerApiDocs(app: FastifyInstance, version: string): Promise<void> {
  await app.register(fastifyZodOpenApiPlugin, {
    // The others are found at the routes.
    components: { schemas: { CallbackBody: callbackBodySchema } },
    documentOpts: { override: simplify },
  });
  await app.register(swagger, {
    openapi: describeApi(version),
    transform: fastifyZodOpenApiTransformers.transform,
    transformObject: (described) => completeApiDescription(fastifyZodOpenApiTransformers.transformObject(described)),
  });
  app.addHook("onRoute", (route) => {
    if (route.url.startsWith("/docs")) route.config = { ...route.config, public: true };
  });
  await app.register(swaggerUi, {
    routePrefix: "/docs",
    staticCSP: PAGE_POLICY,
    // Without the bar at the top, which shows a logo and the address of the document.
    uiConfig: { layout: "BaseLayout" },
    theme: {
      title: "Bridge API",
      favicon: [{ filename: "favicon.svg", rel: "icon", type: "image/svg+xml", sizes: "any", content: ICON }],
    },
  });
  app.get("/openapi.json", { config: { public: true }, schema: { hide: true } }, async () => app.swagger());
  // Made once: the document does not change after the start.
  let yaml: string | undefined;
  app.get("/openapi.yaml", { config: { public: true }, schema: { hide: true } }, async (_request, reply) => {
    yaml ??= writeOpenapiYaml(app.swagger());
    return reply.type("application/yaml; charset=utf-8").send(yaml);
  });
}

/** Leaves out what makes generated clients fail or says nothing. */
function simplify({ jsonSchema, io }: { jsonSchema: z.core.JSONSchema.BaseSchema; io: "input" | "output" }): void {
  // Later versions add fields: a client that knows this one must accept them.
  if (io === "output" && jsonSchema.additionalProperties === false) delete jsonSchema.additionalProperties;
  // The format says it, and the pattern is 300 characters long.
  if (jsonSchema.format === "date-time") delete jsonSchema.pattern;
  if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
  if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
}

/** The document as `/openapi.yaml` and the file of this name have it. */
export const writeOpenapiYaml = (document: object): string => stringify(document, { aliasDuplicateObjects: false, lineWidth: 140 });
