import type { FastifyError, FastifyReply, FastifyRequest } from "fastify";
import { RequestValidationError } from "fastify-zod-openapi";
import type { z } from "zod";
import { BridgeError, type ErrorCode } from "../../errors.ts";
import { toFieldErrors } from "../../requests/field-errors.ts";
import { INTERNAL_ERROR, sendProblem } from "../wire/problem.ts";

/** Sends the response to a thrown error. An unexpected error is logged, and the client receives `internal_error` without details. */
export function handleError(error: FastifyError, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const bridgeError = toBridgeError(error, request);
  if (bridgeError.httpStatus >= 500 && (bridgeError !== error || bridgeError.cause !== undefined)) {
    // Logs the route instead of the URL, because the query can contain a ticket.
    request.log.error({ err: error, method: request.method, route: request.routeOptions.url }, "request failed");
  }
  return sendProblem(reply, bridgeError);
}

function toBridgeError(error: FastifyError, request: FastifyRequest): BridgeError {
  if (error instanceof BridgeError) return error;
  if (error.validation !== undefined) return toValidationError(error, request);
  if (error.code === "FST_ERR_BAD_URL") return new BridgeError("invalid_request", "The path contains a malformed percent-encoding.");
  // A name that is too long cannot exist, so the response is 404.
  const status = error.code === "FST_ERR_MAX_PARAM_LENGTH" ? 404 : (error.statusCode ?? 500);
  if (status < 400 || status >= 500) return new BridgeError("internal_error", INTERNAL_ERROR);
  const code = codeOfStatus.get(status) ?? "invalid_request";
  return new BridgeError(code, details[code]?.(request) ?? `${error.message}.`);
}

const codeOfStatus: ReadonlyMap<number, ErrorCode> = new Map([
  [404, "not_found"],
  [405, "method_not_allowed"],
  [406, "not_acceptable"],
  [408, "too_slow"],
  [413, "too_large"],
  [415, "unsupported_media_type"],
  [429, "too_many_requests"],
  [431, "headers_too_large"],
]);

/** Messages that replace those of Fastify and its plugins. */
const details: Partial<Record<ErrorCode, (request: FastifyRequest) => string>> = {
  not_found: () => "Not found.",
  not_acceptable: () => "This route returns text/event-stream only, which the Accept header does not allow.",
  too_large: (request) => `The body is larger than the limit of ${request.routeOptions.bodyLimit} bytes.`,
  unsupported_media_type: () => "The body must be JSON. Send it with Content-Type: application/json.",
  invalid_request: () => "The request is not valid HTTP: its body does not match its headers or is incomplete.",
};

const PART_NAMES: Readonly<Record<string, string>> = { body: "body", querystring: "query", params: "path", headers: "headers" };

function toValidationError(error: FastifyError, { routeOptions }: FastifyRequest): BridgeError {
  const issues = (error.validation ?? []).filter((fault) => fault instanceof RequestValidationError).map((fault) => fault.params.issue);
  const context = error.validationContext ?? "body";
  const part = PART_NAMES[context] ?? "request";
  const schemas = routeOptions.schema as Readonly<Record<string, z.core.$ZodType | undefined>> | undefined;
  return new BridgeError("invalid_request", `The ${part} of the request is not valid.`, {
    errors: toFieldErrors(issues, { schema: schemas?.[context] }),
  });
}
