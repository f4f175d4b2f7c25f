import cors, { type FastifyCorsOptions } from "@fastify/cors";
import type { FastifyInstance, FastifyRequest } from "fastify";

/** Told to pages of other origins beside the few headers that they always see. */
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
/** A browser asks again after so long whether it may ask. */
const PREFLIGHT_SECONDS = 600;

/** Lets pages of these origins call Bridge, with a token that they bring; never with what a browser sends by itself. */
export async function allowOrigins(app: FastifyInstance, origins: readonly string[]): Promise<void> {
  const options: FastifyCorsOptions = { origin: [...origins], methods, exposedHeaders, maxAge: PREFLIGHT_SECONDS, credentials: false };
  // The plugin would answer an OPTIONS that is no preflight with a text that is no problem.
  await app.register(cors, { delegator: (request, callback) => callback(null, { ...options, preflight: isPreflight(request) }) });
}

const isPreflight = ({ headers }: FastifyRequest): boolean =>
  headers.origin !== undefined && headers["access-control-request-method"] !== undefined;
