/** A response header, as OpenAPI describes it. */
interface ResponseHeader {
  description: string;
  /** Whether each response that lists the header has it. */
  required: boolean;
  schema: { type: "string" | "integer"; minimum?: number };
}

/** All response headers in the OpenAPI document. */
export const responseHeaders = {
  "X-Request-Id": always("string", "Id of the request in Bridge's log: the X-Request-Id of the request, or a new one."),
  "WWW-Authenticate": always("string", "`Bearer`."),
  Allow: always("string", "The methods of this path, separated by commas."),
  "Retry-After": always("integer", "Seconds to wait before the next attempt."),
  Location: always("string", "Path of the resource."),
  ETag: always("string", "Tag of this version, for If-Match and If-None-Match."),
  "Accept-Ranges": always("string", "`bytes`."),
  "Content-Disposition": always("string", "`attachment`, with the name of the file."),
  "Content-Range": always("string", "The returned range and the size of the file; with 416 only the size."),
  "Idempotent-Replayed": sometimes("string", "`true` if the task was accepted by an earlier request."),
  "Preference-Applied": sometimes("string", "The `wait` that Bridge applied."),
  "X-RateLimit-Limit": sometimes(
    "integer",
    "Maximum requests of this token per minute. Only if BRIDGE_RATE_LIMIT is set, like the two below.",
  ),
  "X-RateLimit-Remaining": sometimes("integer", "Requests left in the current minute."),
  "X-RateLimit-Reset": sometimes("integer", "Seconds until the next minute begins."),
} satisfies Record<string, ResponseHeader>;
export type ResponseHeaderName = keyof typeof responseHeaders;

/** Lists the headers of a response by name. `completeApiDescription` replaces each by a reference to its component. */
export const headersOf = (...names: ResponseHeaderName[]): Record<string, object> => Object.fromEntries(names.map((name) => [name, {}]));

function always(type: "string" | "integer", description: string): ResponseHeader {
  return { description, required: true, schema: { type } };
}

function sometimes(type: "string" | "integer", description: string): ResponseHeader {
  return { description, required: false, schema: { type } };
}
