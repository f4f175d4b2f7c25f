import { z } from "zod";
import { BridgeError, type ErrorCode } from "../../errors.ts";
import { CONTROL_CHARACTERS } from "../../requests/control-characters.ts";
import { agentIdPattern } from "../../requests/dispatch-schema.ts";
import { encodeNameCursor, nameCursorSchema, pageQuery, pageSchema } from "../wire/pagination.ts";
import { bodyErrorCodes, forwardingCodes, problemResponses } from "../wire/problem.ts";
import { headersOf, type ResponseHeaderName } from "../wire/response-headers.ts";

/** Maximum size of a file or skill. */
const MAX_CONTENT_BYTES = 1024 ** 2;

export const agentIdSchema = z.string().regex(agentIdPattern, "must be 1 to 128 of A-Z a-z 0-9 _ -");

/** A single name. It cannot change the path that a runtime builds from it, because it contains no separators and is not `.` or `..`. */
const nameSchema = z
  .string()
  .regex(
    new RegExp(`^[^/\\\\${CONTROL_CHARACTERS}]{1,128}$`, "u"),
    "must be 1 to 128 characters without slashes, backslashes and control characters",
  )
  .refine((name) => /[^.]/.test(name), "must contain a character other than a dot");

export const providerParams = { provider: z.string().describe("The adapter, as in a dispatch.") };
export const agentParams = { ...providerParams, agentId: agentIdSchema.describe("Id of the agent in its runtime.") };
export const nameParams = { name: nameSchema.describe("A single name without slashes.") };

/** Header of conditional writes; a failed condition results in 409 `stale_write`. */
export const preconditionHeaders = z.object({
  "if-match": z
    .string()
    .optional()
    .describe("One or more ETags, of which one must match the current version, or `*` for any existing version."),
});

/** Header of conditional reads; an unchanged resource results in 304. */
export const conditionalReadHeaders = z.object({
  "if-none-match": z.string().optional().describe("One or more ETags. 304 if one matches the current version."),
});

/** The body of a request that writes a file or a skill. */
export const contentBody = z
  .strictObject({
    content: z
      .string()
      .refine((text) => text.isWellFormed(), "must not contain unpaired surrogates")
      .describe("At most 1 MiB as UTF-8."),
  })
  .meta({ id: "DocumentContent", examples: [{ content: "# Review\n" }] });

/** Returns the content of a write. Throws BridgeError `too_large`. */
export function readContent({ content }: z.infer<typeof contentBody>): string {
  if (Buffer.byteLength(content) <= MAX_CONTENT_BYTES) return content;
  throw new BridgeError("too_large", `The content is larger than the limit of ${MAX_CONTENT_BYTES} bytes.`);
}

/** The query of a list that is sorted by name. */
export const namePageQuery = z.strictObject({
  limit: pageQuery.limit,
  cursor: nameCursorSchema.optional().describe("`meta.nextCursor` of the previous page."),
});

/** Sorts the items by name and returns one page. Managers return complete lists. */
export function pageByName<Item>(items: readonly Item[], nameOf: (item: Item) => string, query: z.infer<typeof namePageQuery>) {
  const { limit, cursor = "" } = query;
  const sorted = items.filter((item) => nameOf(item) > cursor).toSorted((left, right) => (nameOf(left) < nameOf(right) ? -1 : 1));
  const data = sorted.slice(0, limit);
  const last = data.at(-1);
  return { data, meta: { nextCursor: sorted.length > limit && last !== undefined ? encodeNameCursor(nameOf(last)) : null } };
}

const callErrorCodes: readonly ErrorCode[] = [
  "invalid_request",
  "unauthenticated",
  "scope_missing",
  "not_found",
  "not_supported",
  "invalid_state",
  "stale_write",
  "adapter_offline",
  ...forwardingCodes,
];

const describeJsonResponse = <Body extends z.ZodType>(description: string, schema: Body, ...more: ResponseHeaderName[]) => ({
  description,
  headers: headersOf("ETag", ...more),
  content: { "application/json": { schema } },
});

/** Describes the responses to a read. */
export const describeReadResponses = <Body extends z.ZodType>(description: string, schema: Body) => ({
  200: describeJsonResponse(description, schema),
  304: { description: "Unchanged: If-None-Match contains the current ETag." },
  ...problemResponses(...callErrorCodes),
});

/** Describes the responses to a request for a list. */
export const describeListResponses = <Item extends z.ZodType>(description: string, item: Item) =>
  describeReadResponses(description, pageSchema(item));

/** Describes the error responses to a write. */
export const describeWriteErrors = () =>
  problemResponses(...new Set<ErrorCode>([...bodyErrorCodes, ...callErrorCodes, "too_many_requests", "draining"]));

/** Describes the response to a write, with the new state. */
export const describeWriteResponse = describeJsonResponse;
