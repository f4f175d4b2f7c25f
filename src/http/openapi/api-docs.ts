import swagger from "@fastify/swagger";
import swaggerUi from "@fastify/swagger-ui";
import type { FastifyInstance } from "fastify";
import { fastifyZodOpenApiPlugin, fastifyZodOpenApiTransformers } from "fastify-zod-openapi";
import type { z } from "zod";
import { describeApi } from "./api-description.ts";
import { callbackBodySchema } from "./callback-webhook.ts";
import { completeApiDescription } from "./complete-api-description.ts";

/** Omits `upgrade-insecure-requests`, because the page is often served over plain HTTP on loopback. */
const PAGE_POLICY =
  "default-src 'self'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; object-src 'none'; base-uri 'self'; frame-ancestors 'self'";

/** The icon of all pages: a bridge over water. */
const ICON =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><path d="M2 22h28M5 22a11 11 0 0 1 22 0M10 22v-8m6 8V11m6 11v-8" fill="none" stroke="#2563eb" stroke-width="2.5"/></svg>';

/** Describes all routes that are registered afterwards: as OpenAPI 3.1 at `/openapi.json` and `/openapi.yaml`, and as a page at `/docs`. */
export async function registerApiDocs(app: FastifyInstance, version: string): Promise<void> {
  await app.register(fastifyZodOpenApiPlugin, {
    // Other schemas are collected from the routes.
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
    // Omits the top bar, which shows a logo and the URL of the document.
    uiConfig: { layout: "BaseLayout" },
    theme: {
      title: "Bridge API",
      favicon: [{ filename: "favicon.svg", rel: "icon", type: "image/svg+xml", sizes: "any", content: ICON }],
    },
  });
  // Browsers ask for this path also on pages that name another one.
  app.get("/favicon.ico", { config: { public: true }, schema: { hide: true } }, async (_request, reply) =>
    reply.header("cache-control", "public, max-age=86400").type("image/svg+xml").send(ICON),
  );
  app.get("/openapi.json", { config: { public: true }, schema: { hide: true } }, async () => app.swagger());
  // Cached, because the document does not change after the start.
  let yaml: string | undefined;
  app.get("/openapi.yaml", { config: { public: true }, schema: { hide: true } }, async (_request, reply) => {
    yaml ??= await writeOpenapiYaml(app.swagger());
    return reply.type("application/yaml; charset=utf-8").send(yaml);
  });
}

/** Removes keywords that are redundant or break generated clients. */
function simplify({ jsonSchema, io }: { jsonSchema: z.core.JSONSchema.BaseSchema; io: "input" | "output" }): void {
  // Later versions can add fields, which existing clients must accept.
  if (io === "output" && jsonSchema.additionalProperties === false) delete jsonSchema.additionalProperties;
  // The pattern repeats the format in 300 characters.
  if (jsonSchema.format === "date-time") delete jsonSchema.pattern;
  if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
  if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
}

/** Formats the OpenAPI document as YAML, for `/openapi.yaml` and the file `openapi.yaml`. */
export async function writeOpenapiYaml(document: object): Promise<string> {
  // Loaded when it is needed, because most Bridges never write YAML.
  const { stringify } = await import("yaml");
  return stringify(document, { aliasDuplicateObjects: false, lineWidth: 140 });
}
