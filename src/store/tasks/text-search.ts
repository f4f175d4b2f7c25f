import { toColumnText } from "../column-text.ts";
import type { Page } from "../page.ts";
import type { TaskPage, TaskSearch } from "./interface.ts";

/**
 * The list has up to two parts, each with the newest task first: the tasks that the text finds by their id, and the others. Each part has
 * its own positions, so that a position names its part. Numbers of tasks are less than this.
 */
const PART_SIZE = 2 ** 51;

/** The others, without the task whose id is the text. Used if too many ids begin with the text. */
const OTHER_THAN_EXACT = 0;

/** The others, without tasks whose ids begin with the text. */
const OTHER_THAN_PREFIX = 1;

/** The tasks whose ids begin with the text. */
const WITH_PREFIX = 2;

const idPattern = /^[A-Za-z0-9_:-]{1,128}$/;

const labelPattern = /^([^=]+)=(.*)$/s;

/** What the search for a text reads. */
export interface TextSearchReads {
  /** Finds the tasks with an id; null if they are many. */
  findFew(tenant: string, term: Term): Promise<readonly number[] | null>;
  /** Lists the tasks that match the search and the term. `known`: the only tasks that can match, if they are known. */
  listMatches(search: TaskSearch, page: Page, term: Term | null, known: readonly number[] | null): Promise<TaskPage>;
  like: string;
}

/** Creates the search for tasks by a text. A page contains tasks of one part. */
export function createTextSearch({ findFew, listMatches, like }: TextSearchReads) {
  return async (search: TaskSearch, text: string, { before, limit }: Page): Promise<TaskPage> => {
    const isId = idPattern.test(text);
    let part = before === null ? WITH_PREFIX : Math.floor(before / PART_SIZE);
    let from = before === null ? null : before % PART_SIZE;
    if (part === WITH_PREFIX) {
      const few = isId ? await findFew(search.tenant, hasPrefix(text)) : [];
      const isExact = few === null && before === null;
      const known = isExact ? await findFew(search.tenant, hasId(text)) : few;
      part = few === null ? OTHER_THAN_EXACT : OTHER_THAN_PREFIX;
      const found = known === null || known.length === 0 ? null : await listMatches(search, { before: from, limit }, null, known);
      if (found !== null && found.tasks.length > 0)
        return { ...found, next: isExact || found.next === null ? startOf(part) : toPosition(WITH_PREFIX, found.next) };
      from = null;
    }
    const excluded = !isId ? [] : [part === OTHER_THAN_EXACT ? hasId(text) : hasPrefix(text)];
    const { tasks, next } = await listMatches(search, { before: from, limit }, matchesText(text, excluded, like), null);
    return { tasks, next: next === null ? null : toPosition(part, next) };
  };
}

const toPosition = (part: number, number: number): number => part * PART_SIZE + number;

const startOf = (part: number): number => toPosition(part, PART_SIZE - 1);

const hasId = (id: string): Term => ({ sql: "t.id = ?", values: [id] });

function matchesText(text: string, excluded: readonly Term[], like: string): Term {
  const [, name, value] = labelPattern.exec(text) ?? [];
  const either = [
    containsText("title", text, like),
    containsText("t.agent_id", text, like),
    ...(idPattern.test(text) ? [hasPrefix(text)] : []),
    ...(name === undefined || value === undefined ? [] : [hasLabel(name, value, like)]),
  ];
  const terms = [{ sql: `(${either.map(({ sql }) => sql).join(" OR ")})`, values: either.flatMap(({ values }) => values) }];
  terms.push(...excluded.map(({ sql, values }) => ({ sql: `NOT (${sql})`, values: [...values] })));
  return { sql: terms.map(({ sql }) => sql).join(" AND "), values: terms.flatMap(({ values }) => values) };
}

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
const hasLabel = (name: string, value: string, like: string): Term => ({
  sql: `(SELECT l.value FROM task_label l WHERE l.task = t.seq AND l.name = ?) ${like} ? ESCAPE '\\'`,
  values: [toColumnText(name), `${escapeWildcards(value)}%`],
});

/** Tests whether the id of a task `t` begins with a text. Ids contain only ASCII, so the next text after all of these is known. */
export const hasPrefix = (prefix: string): Term => ({
  sql: "t.id >= ? AND t.id < ?",
  values: [prefix, `${prefix.slice(0, -1)}${String.fromCharCode(prefix.charCodeAt(prefix.length - 1) + 1)}`],
});

const escapeWildcards = (text: string): string => toColumnText(text).replaceAll(/[\\%_]/g, "\\$&");
