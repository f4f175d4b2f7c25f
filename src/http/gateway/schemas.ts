import { z } from "zod";
import { BridgeError, type ErrorCode } from "../../errors.ts";
import { CONTROL_CHARACTERS } from "../../requests/control-characters.ts";
import { agentIdPattern } from "../../requests/dispatch-schema.ts";
import { encodeNameCursor, listOf, nameCursorSchema, pageQuery } from "../wire/cursor.ts";
import { bodyRefusals, problemResponses } from "../wire/problem.ts";
import { headersOf, type ResponseHeaderName } from "../wire/response-headers.ts";

/** The most that the content of one file or skill may have. */
const MAX_CONTENT_BYTES = 1024 ** 2;

export const agentIdSchema = z.string().regex(agentIdPattern, "must be 1 to 128 of A-Z a-z 0-9 _ -");

/** A name that cannot lead anywhere else, whatever a runtime makes of it: a file name in a directory, or a segment of a path. */
const nameSchema = z
  .string()
  .regex(
    new RegExp(`^[^/\\\\${CONTROL_CHARACTERS}]{1,128}$`, "u"),
    "must be 1 to 128 characters without a slash, a backslash or a control character",
  )
  .refine((name) => /[^.]/.test(name), "must not be dots alone");

export const providerParams = { provider: z.string().describe("The adapter, as in a dispatch.") };
export const agentParams = { ...providerParams, agentId: agentIdSchema.describe("Id of the agent in its runtime.") };
export const nameParams = { name: nameSchema.describe("A single name without slashes.") };

/** What the writer has read; a write that has been overtaken is answered 409 `stale_write`. */
export const preconditionHeaders = z.object({
  "if-match": z.string().optional().describe("The ETag that was read, or several, or `*`: it must exist."),
});

/** What the reader has already; an unchanged state is answered 304. */
export const readHeaders = z.object({
  "if-none-match": z.string().optional().describe("The ETag that was read, or several: 304 if the state still has it."),
});

/** The body of a file or a skill. */
export const contentBody = z
  .strictObject({
    content: z
      .string()
      .refine((text) => text.isWellFormed(), "must not hold half of a surrogate pair")
      .describe("At most 1 MiB as UTF-8."),
  })
  .meta({ id: "DocumentContent", examples: [{ content: "# Review\n" }] });

/** The content of a write, within its limit. */
export function readContent({ content }: z.infer<typeof contentBody>): string {
  if (Buffer.byteLength(content) <= MAX_CONTENT_BYTES) return content;
  throw new BridgeError("too_large", `The content has more than ${MAX_CONTENT_BYTES} bytes.`);
}

/** A list by name, oldest page first. */
export const namePageQuery = z.strictObject({
  limit: pageQuery.limit,
  cursor: nameCursorSchema.optional().describe("`meta.nextCursor` of the page before."),
});

/** One page of what a runtime has listed at once, by name. */
export function pageByName<Item>(items: readonly Item[], nameOf: (item: Item) => string, query: z.infer<typeof namePageQuery>) {
  const { limit, cursor = "" } = query;
  const sorted = items.filter((item) => nameOf(item) > cursor).toSorted((left, right) => (nameOf(left) < nameOf(right) ? -1 : 1));
  const data = sorted.slice(0, limit);
  const last = data.at(-1);
  return { data, meta: { nextCursor: sorted.length > limit && last !== undefined ? encodeNameCursor(nameOf(last)) : null } };
}

const callRefusals: readonly ErrorCode[] = [
  "invalid_request",
  "unauthenticated",
  "scope_missing",
  "not_found",
  "not_supported",
  "invalid_state",
  "stale_write",
  "adapter_offline",
];

const json = <Body extends z.ZodType>(description: string, schema: Body, ...more: ResponseHeaderName[]) => ({
  description,
  headers: headersOf("ETag", ...more),
  content: { "application/json": { schema } },
});

/** What a read may answer. */
export const readResponses = <Body extends z.ZodType>(description: string, schema: Body) => ({
  200: json(description, schema),
  304: { description: "Unchanged since the state that If-None-Match names." },
  ...problemResponses(...callRefusals),
});

/** What reading a list may answer. */
export const listResponses = <Item extends z.ZodType>(description: string, item: Item) => readResponses(description, listOf(item));

/** What a write may answer beside its success. */
export const writeRefusals = () =>
  problemResponses(...new Set<ErrorCode>([...bodyRefusals, ...callRefusals, "too_many_requests", "draining"]));

/** The answer to a write, with the state after it. */
export const written = json;
