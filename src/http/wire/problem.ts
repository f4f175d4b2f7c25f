import type { FastifyReply } from "fastify";
import { z } from "zod";
import { stringifyWellFormed } from "#contract";
import { type BridgeError, type ErrorCode, errorCodes, queueOwners } from "../../errors.ts";
import { extensibleEnum } from "./extensible-enum.ts";

export const PROBLEM_TYPE = "application/problem+json";
/** The detail of an internal error. Only the log contains the cause. */
export const INTERNAL_ERROR = "Bridge failed to process the request. Search its log for this requestId.";

const errorCode = extensibleEnum(z.enum(Object.keys(errorCodes) as [ErrorCode, ...ErrorCode[]]), {
  id: "ErrorCode",
  description: "Why a request was rejected.",
});
const fieldErrorSchema = z
  .strictObject({ path: z.string().describe("Dotted path of the field, or the name of the header."), message: z.string() })
  .meta({ id: "FieldError", description: "What is wrong with one field, and how to correct it." });

/** The body of every error response (RFC 9457). */
export const problemSchema = z
  .strictObject({
    type: z.string().describe("urn:bridge:error:<code>"),
    title: z.string(),
    status: z.number().int(),
    detail: z.string(),
    code: errorCode,
    requestId: z.string(),
    errors: z.array(fieldErrorSchema).optional(),
    queue: z
      .enum(queueOwners)
      .optional()
      .describe("Only with the code queue_full: whether the queue of Bridge, of the tenant or of the agent is full."),
  })
  .meta({
    id: "Problem",
    description: "Why a request was rejected (RFC 9457).",
    examples: [
      {
        type: "urn:bridge:error:invalid_request",
        title: "Invalid request",
        status: 400,
        detail: "The dispatch is not valid: agentId is required (string).",
        code: "invalid_request",
        requestId: "0f8fad5b-d9cb-469f-a165-70867728950e",
        errors: [{ path: "agentId", message: "is required (string)" }],
      },
    ],
  });
export type Problem = z.infer<typeof problemSchema>;

/** Converts an error to the body of its response. */
export function toProblem(error: BridgeError, requestId: string): Problem {
  const { code, httpStatus, errors, queue } = error;
  const problem: Problem = {
    type: `urn:bridge:error:${code}`,
    title: errorCodes[code].title,
    status: httpStatus,
    detail: formatDetail(error),
    code,
    requestId,
  };
  return { ...problem, ...(errors.length > 0 && { errors: [...errors] }), ...(queue !== null && { queue }) };
}

/**
 * Adds the first field error of an invalid request to the message, unless the message contains it, because many clients
 * log only `detail`.
 */
function formatDetail({ code, message, errors }: BridgeError): string {
  const [first, ...others] = errors;
  if (code !== "invalid_request" || first === undefined) return message;
  if (first.path !== "" && message.endsWith(`${first.path} ${first.message}.`)) return message;
  const more = others.length === 0 ? "" : ` (and ${others.length} more in errors)`;
  return `${message.replace(/\.$/, "")}: ${first.path === "" ? "it" : first.path} ${first.message}${more}.`;
}

/** Sends an error response with the headers that its code requires. */
export function sendProblem(reply: FastifyReply, error: BridgeError): FastifyReply {
  const requestId = reply.request.id;
  if (error.code === "unauthenticated") reply.header("www-authenticate", "Bearer");
  if (error.retryAfterSeconds !== null) reply.header("retry-after", String(error.retryAfterSeconds));
  return reply
    .code(error.httpStatus)
    .headers({ "content-type": PROBLEM_TYPE, "cache-control": "no-store", "x-request-id": requestId })
    .send(stringifyWellFormed(toProblem(error, requestId)));
}

/** Error codes of every route with a request body. */
export const bodyErrorCodes = ["invalid_request", "too_slow", "too_large", "unsupported_media_type"] as const;

/** Error codes of every route that starts a redelivery. */
export const redeliveryCodes = [
  ...bodyErrorCodes,
  ...(["unauthenticated", "scope_missing", "too_many_requests", "storage_unavailable"] as const),
] as const;

/** Error codes of the routes whose requests can belong to another node. */
export const forwardingCodes = ["node_unavailable", "loop_detected"] as const;

/** Error codes of every route that reads the store or counts towards the memory limit of its tenant. */
const commonErrorCodes = ["overloaded", "storage_unavailable"] as const;

/** Describes the error responses of a route for OpenAPI. */
export function problemResponses(...codes: ErrorCode[]) {
  const byStatus = Map.groupBy(new Set([...codes, ...commonErrorCodes]), (code) => errorCodes[code].httpStatus);
  return Object.fromEntries(
    [...byStatus].map(([status, names]) => [
      status,
      { description: names.map((name) => `\`${name}\``).join(", "), content: { [PROBLEM_TYPE]: { schema: problemSchema } } },
    ]),
  );
}
