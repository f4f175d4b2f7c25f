import { toColumnText } from "../column-text.ts";

/** A value of a statement. */
export type Value = string | number | readonly number[];

/** A part of a statement with `?` for each of its values. */
export interface Term {
  sql: string;
  values: readonly Value[];
}

/** Tests whether a column contains a text. `like` is the operator of the engine. */
export const containsText = (column: string, text: string, like: string): Term => ({
  sql: `${column} ${like} ? ESCAPE '\\'`,
  values: [`%${escapeWildcards(text)}%`],
});

/** Tests whether a task `t` has a label with this name and a value that begins with this text. */
export const hasLabel = (name: string, value: string, like: string): Term => ({
  sql: `(SELECT l.value FROM task_label l WHERE l.task = t.seq AND l.name = ?) ${like} ? ESCAPE '\\'`,
  values: [toColumnText(name), `${escapeWildcards(value)}%`],
});

/** Tests whether the id of a task `t` begins with a text. Ids contain only ASCII, so the next text after all of these is known. */
export const hasPrefix = (prefix: string): Term => ({
  sql: "t.id >= ? AND t.id < ?",
  values: [prefix, `${prefix.slice(0, -1)}${String.fromCharCode(prefix.charCodeAt(prefix.length - 1) + 1)}`],
});

const escapeWildcards = (text: string): string => toColumnText(text).replaceAll(/[\\%_]/g, "\\$&");
