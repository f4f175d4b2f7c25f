import { type ResponseHeaderName, responseHeaders } from "../wire/response-headers.ts";

/** As much of an OpenAPI document as is completed here. */
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

/** At a route: the headers of answers without content, which the generator of the description would drop. */
const HEADERS_MARK = "x-response-headers";

/** Adds to the description of the routes what all of them share, and corrects what the generator of the description cannot know. */
export function completeApiDescription<Document>(document: Document): Document {
  const description = document as ApiDescription;
  description.paths = Object.fromEntries(
    Object.entries(description.paths).map(([url, operations]) => [nameRestOfPath(url, operations), operations]),
  );
  for (const operation of Object.values(description.paths).flatMap((operations) => Object.values(operations))) {
    completeBody(operation, description.components.schemas);
    completeAnswers(operation);
  }
  for (const response of Object.values(description.components.responses)) nameHeaders(response, []);
  return document;
}

/** The rest of a path, which the router calls `*`, is `path` to readers. */
function nameRestOfPath(url: string, operations: Record<string, Operation>): string {
  if (!url.endsWith("{*}")) return url;
  for (const parameter of Object.values(operations).flatMap(({ parameters = [] }) => parameters))
    if (parameter.name === "*") parameter.name = "path";
  return url.replace("{*}", "{path}");
}

/** The generator marks a body that may be missing, and requires it nevertheless. */
const OPTIONAL_MARK = "x-fastify-zod-openapi-optional";

function completeBody(operation: Operation, schemas: Readonly<Record<string, Schema>>): void {
  const { requestBody } = operation;
  for (const media of Object.values(requestBody?.content ?? {})) {
    const { [OPTIONAL_MARK]: isOptional, ...schema } = media.schema;
    media.schema = schema;
    if (requestBody !== undefined && isOptional === true) requestBody.required = false;
    const [example] = schemas[schema.$ref?.split("/").at(-1) ?? ""]?.examples ?? [];
    if (example !== undefined) media.example = example;
    // A body that may be missing and can hold nothing: a client has nothing to send.
    if (isOptional === true && schema.properties !== undefined && Object.keys(schema.properties).length === 0) delete operation.requestBody;
  }
}

/** The answers and headers that follow from the server and not from the route. */
function completeAnswers(operation: Operation): void {
  const { responses, [HEADERS_MARK]: marked = {} } = operation;
  delete operation[HEADERS_MARK];
  const isRateLimited = responses["429"] !== undefined;
  for (const [status, response] of Object.entries(responses)) {
    const isLimitShown = isRateLimited && (status.startsWith("2") || status === "429");
    nameHeaders(response, [...(headersOfStatus[status] ?? []), ...(marked[status] ?? []), ...(isLimitShown ? rateLimitHeaders : [])]);
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

/** Refers to the component of each header; the generator would take a reference for a schema. */
function nameHeaders(response: Response, more: readonly ResponseHeaderName[]): void {
  const named = new Set([...Object.keys(response.headers ?? {}), ...more, "X-Request-Id"]);
  response.headers = Object.fromEntries(
    Object.keys(responseHeaders)
      .filter((name) => named.has(name))
      .map((name) => [name, { $ref: `#/components/headers/${name}` }]),
  );
}

declare module "fastify" {
  interface FastifySchema {
    /** Names the headers of answers without content, by status; for all others, see `headersOf`. */
    "x-response-headers"?: Readonly<Record<number, readonly ResponseHeaderName[]>>;
  }
}
