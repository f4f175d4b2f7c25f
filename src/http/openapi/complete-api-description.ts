import { type ResponseHeaderName, responseHeaders } from "../wire/response-headers.ts";

/** The parts of an OpenAPI document that this module changes. */
export interface ApiDescription {
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, Schema>; responses: Record<string, Response> };
}

interface Operation {
  [HEADERS_MARK]?: Record<string, ResponseHeaderName[]>;
  parameters?: { name: string }[];
  requestBody?: { required: boolean; content: Record<string, MediaType> };
  responses: Record<string, Response>;
}

interface MediaType {
  schema: Schema;
  example?: unknown;
  examples?: object;
}

interface Schema {
  $ref?: string;
  properties?: object;
  examples?: readonly unknown[];
  [keyword: string]: unknown;
}

interface Response {
  $ref?: string;
  headers?: Record<string, object>;
}

/** Schema keyword of a route that lists the headers of responses without content, which the OpenAPI generator would drop. */
const HEADERS_MARK = "x-response-headers";

/** Adds the responses and headers that all routes share, and corrects the output of the OpenAPI generator. */
export function completeApiDescription<Document>(document: Document): Document {
  const description = document as ApiDescription;
  description.paths = Object.fromEntries(
    Object.entries(description.paths).map(([url, operations]) => [nameWildcard(url, operations), operations]),
  );
  for (const operation of Object.values(description.paths).flatMap((operations) => Object.values(operations))) {
    completeBody(operation, description.components.schemas);
    completeResponses(operation);
  }
  for (const response of Object.values(description.components.responses)) referToHeaders(response, []);
  return document;
}

/** Renames the wildcard parameter of the router from `*` to `path`. */
function nameWildcard(url: string, operations: Record<string, Operation>): string {
  if (!url.endsWith("{*}")) return url;
  for (const parameter of Object.values(operations).flatMap(({ parameters = [] }) => parameters))
    if (parameter.name === "*") parameter.name = "path";
  return url.replace("{*}", "{path}");
}

/** The generator marks optional bodies with this keyword but still declares them as required. */
const OPTIONAL_MARK = "x-fastify-zod-openapi-optional";

function completeBody(operation: Operation, schemas: Readonly<Record<string, Schema>>): void {
  const { requestBody } = operation;
  for (const media of Object.values(requestBody?.content ?? {})) {
    const { [OPTIONAL_MARK]: isOptional, ...schema } = media.schema;
    media.schema = schema;
    if (requestBody !== undefined && isOptional === true) requestBody.required = false;
    const [example] = schemas[schema.$ref?.split("/").at(-1) ?? ""]?.examples ?? [];
    if (example !== undefined) media.example = example;
    // An optional body without properties is omitted.
    if (isOptional === true && schema.properties !== undefined && Object.keys(schema.properties).length === 0) delete operation.requestBody;
  }
}

/** Adds the responses and headers that the server adds to every route. */
function completeResponses(operation: Operation): void {
  const { responses, [HEADERS_MARK]: marked = {} } = operation;
  delete operation[HEADERS_MARK];
  const isRateLimited = responses["429"] !== undefined;
  for (const [status, response] of Object.entries(responses)) {
    const hasRateLimitHeaders = isRateLimited && (status.startsWith("2") || status === "429");
    referToHeaders(response, [
      ...(headersOfStatus[status] ?? []),
      ...(marked[status] ?? []),
      ...(hasRateLimitHeaders ? rateLimitHeaders : []),
    ]);
  }
  responses["405"] = { $ref: "#/components/responses/MethodNotAllowed" };
  responses["default"] = { $ref: "#/components/responses/OtherProblem" };
}

const headersOfStatus: Readonly<Record<string, readonly ResponseHeaderName[]>> = {
  304: ["ETag"],
  401: ["WWW-Authenticate"],
  416: ["Content-Range"],
  429: ["Retry-After"],
  503: ["Retry-After"],
};
const rateLimitHeaders = ["X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset"] as const;

/** Replaces headers by references to their components, which the generator does not support. */
function referToHeaders(response: Response, added: readonly ResponseHeaderName[]): void {
  const names = new Set([...Object.keys(response.headers ?? {}), ...added, "X-Request-Id"]);
  response.headers = Object.fromEntries(
    Object.keys(responseHeaders)
      .filter((name) => names.has(name))
      .map((name) => [name, { $ref: `#/components/headers/${name}` }]),
  );
}

declare module "fastify" {
  interface FastifySchema {
    /** Headers of responses without content, by status. For other responses, use `headersOf`. */
    "x-response-headers"?: Readonly<Record<number, readonly ResponseHeaderName[]>>;
  }
}
