import { z } from "zod";

/** A place in a list: nothing about it is promised but that the list goes on from there. */
export const encodeCursor = (key: string | number): string => Buffer.from(JSON.stringify(key)).toString("base64url");

/** The row number that a cursor stands for; refused when Bridge cannot have made it. */
const cursorSchema = z
  .string()
  .max(200)
  .transform((text, context) => {
    const key = Number(Buffer.from(text, "base64url").toString());
    if (Number.isSafeInteger(key) && key > 0 && encodeCursor(key) === text) return key;
    context.issues.push({ code: "custom", input: text, message: "must be a nextCursor that this list has answered" });
    return z.NEVER;
  });

/** A place in a list by name: the name as it is, so that the longest path still fits a URL. */
export const encodeNameCursor = (name: string): string => Buffer.from(name).toString("base64url");

export const nameCursorSchema = z
  .string()
  .max(6000)
  .transform((text, context) => {
    const name = Buffer.from(text, "base64url").toString();
    if (name !== "" && encodeNameCursor(name) === text) return name;
    context.issues.push({ code: "custom", input: text, message: "must be a nextCursor that this list has answered" });
    return z.NEVER;
  });

/** The query parameters that every list takes. */
export const pageQuery = {
  limit: z
    .string()
    .refine((text) => /^\d{1,3}$/.test(text) && Number(text) >= 1 && Number(text) <= 200, "must be a whole number from 1 to 200")
    .transform(Number)
    .default(50)
    .meta({ description: "Maximum length of the page.", override: { type: "integer", minimum: 1, maximum: 200, default: 50 } }),
  cursor: cursorSchema.optional().describe("`meta.nextCursor` of the page before."),
};

/** Schema of a list's answer. A list of `Task`s is described as a `TaskPage`. */
export function listOf<T extends z.ZodType>(item: T) {
  const page = z.strictObject({ data: z.array(item), meta: pageMetaSchema });
  const { id } = item.meta() ?? {};
  return id === undefined ? page : page.meta({ id: `${id}Page` });
}

const pageMetaSchema = z
  .strictObject({ nextCursor: z.string().nullable().describe("The `cursor` of the next page; null on the last one.") })
  .meta({ id: "PageMeta" });

/** One page of a list. */
export function toPage<Row, View>(rows: readonly Row[], hasMore: boolean, view: (row: Row) => View, keyOf: (row: Row) => string | number) {
  const last = rows.at(-1);
  return { data: rows.map(view), meta: { nextCursor: hasMore && last !== undefined ? encodeCursor(keyOf(last)) : null } };
}
