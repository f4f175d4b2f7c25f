import swagger from "@fastify/swagger";
import swaggerUi from "@fastify/swagger-ui";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { fastifyZodOpenApiPlugin, fastifyZodOpenApiTransformers } from "fastify-zod-openapi";
import type { z } from "zod";
import { type EncodedDocument, encodeDocument, sendDocument } from "../wire/encoded-document.ts";
import type { RequestTurns } from "../wire/request-turns.ts";
import { describeApi } from "./api-description.ts";
import { callbackBodySchema } from "./callback-webhook.ts";
import { completeApiDescription } from "./complete-api-description.ts";
import { writeOpenapiYaml } from "./write-openapi-yaml.ts";

interface ApiDocsOptions {
  version: string;
  requestTurns: Pick<RequestTurns, "take">;
}

/** Omits `upgrade-insecure-requests`, because the page is often served over plain HTTP on loopback. */
const PAGE_POLICY =
  "default-src 'self'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; object-src 'none'; base-uri 'self'; frame-ancestors 'self'";

/** The icon of all pages: a bridge over water. */
const ICON =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><path d="M2 22h28M5 22a11 11 0 0 1 22 0M10 22v-8m6 8V11m6 11v-8" fill="none" stroke="#2563eb" stroke-width="2.5"/></svg>';

/** All requests for a document take turns under this name instead of a tenant, because they need no token. */
const READERS = "api-docs";

/** Describes all routes that are registered afterwards: as OpenAPI 3.1 at `/openapi.json` and `/openapi.yaml`, and as a page at `/docs`. */
export async function registerApiDocs(app: FastifyInstance, { version, requestTurns }: ApiDocsOptions): Promise<void> {
  /** Creates the handler that sends a document. It is encoded at the first request, and does not change after the start. */
  const sendEncoded = (type: string, write: () => Promise<string>) => {
    let encoded: Promise<EncodedDocument> | undefined;
    let isReady = false;
    return async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
      const waits = !isReady;
      encoded ??= write().then((text) => encodeDocument(type, text));
      const document = await encoded;
      isReady = true;
      // All requests that waited for the document would otherwise be answered in one turn of the event loop. No further await precedes the
      // answer, so that its time counts before the next request asks for its turn.
      const turn = waits ? requestTurns.take(READERS) : null;
      if (turn !== null) await turn;
      return sendDocument(request, reply.header("cache-control", "no-cache"), document);
    };
  };
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
  const sendJson = sendEncoded("application/json; charset=utf-8", async () => JSON.stringify(app.swagger()));
  const sendYaml = sendEncoded("application/yaml; charset=utf-8", () => writeOpenapiYaml(app.swagger()));
  // The page sends its requests to the first server, which it resolves against the URL of its document.
  const sendPageJson = sendEncoded("application/json; charset=utf-8", async () =>
    JSON.stringify({ ...app.swagger(), servers: [{ url: ".." }] }),
  );
  app.addHook("onRoute", (route) => {
    if (route.url.startsWith("/docs")) route.config = { ...route.config, public: true };
    // The page would encode the document for each request.
    if (route.url === "/docs/json") route.handler = sendPageJson;
    if (route.url === "/docs/yaml") route.handler = sendYaml;
  });
  await app.register(swaggerUi, {
    routePrefix: "/docs",
    // Makes the URLs of the page relative, so that they are also correct behind a proxy with a path prefix.
    indexPrefix: ".",
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
  app.get("/openapi.json", { config: { public: true }, schema: { hide: true } }, sendJson);
  app.get("/openapi.yaml", { config: { public: true }, schema: { hide: true } }, sendYaml);
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
