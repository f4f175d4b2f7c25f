/** A response header, as OpenAPI describes it. */
interface ResponseHeader {
  description: string;
  /** Whether each response that lists the header has it. */
  required: boolean;
  schema: { type: "string" | "integer"; minimum?: number };
}

/** All response headers in the OpenAPI document. */
export const responseHeaders = {
  "X-Request-Id": requiredHeader("string", "Id of the request in Bridge's log: the X-Request-Id of the request, or a new one."),
  "WWW-Authenticate": requiredHeader("string", "`Bearer`."),
  Allow: requiredHeader("string", "The methods of this path, separated by commas."),
  "Retry-After": requiredHeader("integer", "Seconds to wait before the next attempt."),
  Location: requiredHeader("string", "Path of the resource."),
  ETag: requiredHeader("string", "Tag of this version, for If-Match and If-None-Match."),
  "Accept-Ranges": requiredHeader("string", "`bytes`."),
  "Content-Disposition": requiredHeader("string", "`attachment`, with the name of the file."),
  "Content-Range": requiredHeader("string", "The returned range and the size of the file; with 416 only the size."),
  "Idempotent-Replayed": optionalHeader("string", "`true` if the task was accepted by an earlier request."),
  "Preference-Applied": optionalHeader("string", "The `wait` that Bridge applied."),
  "X-RateLimit-Limit": optionalHeader(
    "integer",
    "Maximum requests of this token per minute. This header is sent only if BRIDGE_RATE_LIMIT is set.",
  ),
  "X-RateLimit-Remaining": optionalHeader("integer", "Requests left in the current minute, if BRIDGE_RATE_LIMIT is set."),
  "X-RateLimit-Reset": optionalHeader("integer", "Seconds until the next minute begins, if BRIDGE_RATE_LIMIT is set."),
} satisfies Record<string, ResponseHeader>;
export type ResponseHeaderName = keyof typeof responseHeaders;

/** Lists the headers of a response by name. `completeApiDescription` replaces each by a reference to its component. */
export const headersOf = (...names: ResponseHeaderName[]): Record<string, object> => Object.fromEntries(names.map((name) => [name, {}]));

function requiredHeader(type: "string" | "integer", description: string): ResponseHeader {
  return { description, required: true, schema: { type } };
}

function optionalHeader(type: "string" | "integer", description: string): ResponseHeader {
  return { description, required: false, schema: { type } };
}
