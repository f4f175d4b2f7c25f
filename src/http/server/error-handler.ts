import type { FastifyError, FastifyReply, FastifyRequest } from "fastify";
import { RequestValidationError } from "fastify-zod-openapi";
import { BridgeError, type ErrorCode } from "../../errors.ts";
import { toFieldErrors } from "../../requests/field-errors.ts";
import { INTERNAL_ERROR, sendProblem } from "../wire/problem.ts";

/** Turns whatever was thrown into a problem; what nobody expected is logged and told as nothing but an internal error. */
export function handleError(error: FastifyError, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const refusal = toBridgeError(error, request);
  if (refusal.httpStatus >= 500 && (refusal !== error || refusal.cause !== undefined)) {
    // The route and not the URL: a query can hold a ticket.
    request.log.error({ err: error, method: request.method, route: request.routeOptions.url }, "request failed");
  }
  return sendProblem(reply, refusal);
}

function toBridgeError(error: FastifyError, request: FastifyRequest): BridgeError {
  if (error instanceof BridgeError) return error;
  if (error.validation !== undefined) return describeValidation(error);
  if (error.code === "FST_ERR_BAD_URL")
    return new BridgeError("invalid_request", "The path is not a valid URL: it has a malformed percent-encoding.");
  // Longer than any name: nothing can be called so.
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

/** What Fastify and its plugins say in their own words, in ours. */
const details: Partial<Record<ErrorCode, (request: FastifyRequest) => string>> = {
  not_found: () => "There is nothing here.",
  not_acceptable: () => "This route cannot answer in the form that the Accept header asks for; it answers text/event-stream.",
  too_large: (request) => `The body is larger than the limit of ${request.routeOptions.bodyLimit} bytes.`,
  unsupported_media_type: () => "Send the body as JSON, with Content-Type: application/json.",
  invalid_request: () => "The request is not valid HTTP: its body does not fit its headers, or was cut off.",
};

const places: Readonly<Record<string, string>> = { body: "body", querystring: "query", params: "path", headers: "headers" };

function describeValidation(error: FastifyError): BridgeError {
  const issues = (error.validation ?? []).filter((fault) => fault instanceof RequestValidationError).map((fault) => fault.params.issue);
  const place = places[error.validationContext ?? "body"] ?? "request";
  return new BridgeError("invalid_request", `The ${place} of the request is not valid.`, { errors: toFieldErrors(issues) });
}
