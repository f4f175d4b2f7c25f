import { z } from "zod";

/** Encodes the key of the last row of a page as an opaque cursor. */
export const encodeCursor = (key: string | number): string => Buffer.from(JSON.stringify(key)).toString("base64url");

/** Parses a cursor into its row number; rejects a cursor that Bridge did not issue. */
export const cursorSchema = z
  .string()
  .max(200)
  .transform((text, context) => {
    const key = Number(Buffer.from(text, "base64url").toString());
    if (Number.isSafeInteger(key) && key > 0 && encodeCursor(key) === text) return key;
    context.issues.push({ code: "custom", input: text, message: "must be a nextCursor that this list returned" });
    return z.NEVER;
  });

/**
 * Encodes the name of the last row of a page as a cursor. The name is not quoted, so that the cursor of the longest
 * path fits into a URL.
 */
export const encodeNameCursor = (name: string): string => Buffer.from(name).toString("base64url");

/** Parses the cursor of a list that is sorted by name. */
export const nameCursorSchema = z
  .string()
  .max(6000)
  .transform((text, context) => {
    const name = Buffer.from(text, "base64url").toString();
    if (name !== "" && encodeNameCursor(name) === text) return name;
    context.issues.push({ code: "custom", input: text, message: "must be a nextCursor that this list returned" });
    return z.NEVER;
  });

/** Query parameters of every list. */
export const pageQuery = {
  limit: z
    .string()
    .refine((text) => /^\d{1,3}$/.test(text) && Number(text) >= 1 && Number(text) <= 200, "must be a whole number from 1 to 200")
    .transform(Number)
    .default(50)
    .meta({ description: "Maximum length of the page.", override: { type: "integer", minimum: 1, maximum: 200, default: 50 } }),
  cursor: cursorSchema.optional().describe("`meta.nextCursor` of the previous page."),
};

/** Returns the schema of a page of items. A page of `Task` is named `TaskPage` in the OpenAPI document. */
export function pageSchema<T extends z.ZodType>(item: T) {
  const page = z.strictObject({ data: z.array(item), meta: pageMetaSchema });
  const { id } = item.meta() ?? {};
  return id === undefined ? page : page.meta({ id: `${id}Page` });
}

const pageMetaSchema = z
  .strictObject({ nextCursor: z.string().nullable().describe("The `cursor` of the next page; null on the last one.") })
  .meta({ id: "PageMeta" });

/** Builds one page of a list. */
export function toPage<Row, View>(rows: readonly Row[], hasMore: boolean, view: (row: Row) => View, keyOf: (row: Row) => string | number) {
  const last = rows.at(-1);
  return { data: rows.map(view), meta: { nextCursor: hasMore && last !== undefined ? encodeCursor(keyOf(last)) : null } };
}
