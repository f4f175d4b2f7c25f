import type { FastifyCorsOptions } from "@fastify/cors";
import type { FastifyInstance, FastifyRequest } from "fastify";

/** Response headers that pages of other origins can read, in addition to those that browsers always expose. */
const exposedHeaders = [
  "x-request-id",
  "retry-after",
  "location",
  "idempotent-replayed",
  "preference-applied",
  "etag",
  "content-range",
  "content-disposition",
];
const methods = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"];
/** How long a browser may cache the response to a preflight request. */
const PREFLIGHT_SECONDS = 600;

/** Allows pages of these origins to call Bridge with a token. Cookies and other browser credentials are never allowed. */
export async function allowOrigins(app: FastifyInstance, origins: readonly string[]): Promise<void> {
  const options: FastifyCorsOptions = { origin: [...origins], methods, exposedHeaders, maxAge: PREFLIGHT_SECONDS, credentials: false };
  // The plugin would respond to an OPTIONS request that is not a preflight with plain text instead of a problem.
  // Loaded when it is needed, because most Bridges allow no origins.
  await app.register(import("@fastify/cors"), {
    delegator: (request, callback) => callback(null, { ...options, preflight: isPreflight(request) }),
  });
}

const isPreflight = ({ headers }: FastifyRequest): boolean =>
  headers.origin !== undefined && headers["access-control-request-method"] !== undefined;
