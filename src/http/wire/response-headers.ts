/** A header of an answer, as OpenAPI describes it. */
interface ResponseHeader {
  description: string;
  /** Every answer that names it has it. */
  required: boolean;
  schema: { type: "string" | "integer"; minimum?: number };
}

/** Every header that the description of the API names. */
export const responseHeaders = {
  "X-Request-Id": always("string", "Id of the request in Bridge's log: the X-Request-Id of the request, or a new one."),
  "WWW-Authenticate": always("string", "`Bearer`."),
  Allow: always("string", "The methods of this path, separated by commas."),
  "Retry-After": always("integer", "Seconds after which another attempt makes sense."),
  Location: always("string", "Path of the resource."),
  ETag: always("string", "Tag of this state, for If-Match and If-None-Match."),
  "Accept-Ranges": always("string", "`bytes`."),
  "Content-Disposition": always("string", "`attachment`, with the name of the file."),
  "Content-Range": always("string", "The returned bytes and the size of the file; with 416 only its size."),
  "Idempotent-Replayed": sometimes("string", "`true` if the task was accepted by an earlier request."),
  "Preference-Applied": sometimes("string", "The `wait` that Bridge applied."),
  "X-RateLimit-Limit": sometimes("integer", "Requests of this token in a minute. Only if BRIDGE_RATE_LIMIT is set, like the two below."),
  "X-RateLimit-Remaining": sometimes("integer", "Requests left in the current minute."),
  "X-RateLimit-Reset": sometimes("integer", "Seconds until the next minute begins."),
} satisfies Record<string, ResponseHeader>;
export type ResponseHeaderName = keyof typeof responseHeaders;

/** The `headers` of a described answer. Names alone: `completeApiDescription` turns each into a reference to its component. */
export const headersOf = (...names: ResponseHeaderName[]): Record<string, object> => Object.fromEntries(names.map((name) => [name, {}]));

function always(type: "string" | "integer", description: string): ResponseHeader {
  return { description, required: true, schema: { type } };
}

function sometimes(type: "string" | "integer", description: string): ResponseHeader {
  return { description, required: false, schema: { type } };
}
