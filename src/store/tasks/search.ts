import { isFinal } from "../../task.ts";
import { failureFlag } from "../attention/rows.ts";
import { toColumnText } from "../column-text.ts";
import type { DeletionStore } from "../maintenance/interface.ts";
import type { Page } from "../page.ts";
import type { TaskPage, TaskSearch, TaskStore } from "./interface.ts";

/** Maximum tasks that one page of a search examines, in about 10 ms. */
const MAX_EXAMINED = 2000;

/** Maximum tasks that are known to match a condition and are sorted in memory. With more, the search examines the newest tasks. */
const MAX_KNOWN = 1000;

/** By how much the times of tasks can differ from the order of their numbers, because the clocks of nodes differ. */
const TOLERATED_SKEW_MS = 60_000;

type Row = Readonly<Record<string, unknown>>;

/** The reads of an engine, and the SQL in which engines differ. */
export interface SearchEngine extends Pick<DeletionStore, "findFamily"> {
  all(sql: string, values: readonly Value[]): Promise<readonly Row[]>;
  /** Lists these tasks, newest first. Returns fewer if their metadata is long. */
  readTasks(tenant: string, seqs: readonly number[]): Promise<TaskPage["tasks"]>;
  /** The tasks of `candidate`: the columns of the task `t`, `title`, `error_code`, and `number`, which is in the order of the list. */
  from: string;
  /** Tests whether a text contains another one, whatever the case of its ASCII letters. */
  like: string;
  /** The table `member` of numbers, whose parameter is an array. */
  numbers: string;
}

/**
 * Creates the search for tasks by conditions that have no index in the order of the list. Each page examines a limited number of tasks, so
 * it may be empty before the end: continue from `next`.
 */
export function createTaskSearch({ all, readTasks, findFamily, from, like, numbers }: SearchEngine): Pick<TaskStore, "searchTasks"> {
  /** The only tasks that can match, if they are few and known without a search. */
  async function findMembers(search: TaskSearch): Promise<readonly number[] | null> {
    const { tenant, root, idPrefix, waitingOn, finishedAfter } = search;
    if (typeof root === "string") return findFamily(tenant, root);
    if (idPrefix !== undefined) return findFew(tenant, hasPrefix(idPrefix));
    if (waitingOn !== undefined) return findWaiting(tenant);
    return finishedAfter === undefined ? null : findFinished(search, finishedAfter);
  }

  /** Finds the tasks that ended since a time; null if they are many. Failed tasks without a parent have an index for each tenant. */
  async function findFinished(
    { tenant, state, root, finishedBefore }: TaskSearch,
    finishedAfter: number,
  ): Promise<readonly number[] | null> {
    const isFailed = state === "failed" && root === null;
    // The index of failures separates those that were acknowledged, so each part of it is read in its order.
    const conditions = isFailed
      ? [0, 1].map((flag) => `t.tenant = ? AND t.state = 'failed' AND t.parent_seq IS NULL AND ${failureFlag} = ${flag} AND `)
      : [""];
    const parts = conditions.map(
      (where) =>
        `SELECT seq FROM (SELECT t.seq FROM task t WHERE ${where}t.finished_at >= ? AND t.finished_at < ? ORDER BY t.finished_at LIMIT ?) part`,
    );
    const values = [...(isFailed ? [tenant] : []), finishedAfter, finishedBefore ?? Number.MAX_SAFE_INTEGER, MAX_KNOWN + 1];
    const rows = await all(
      parts.join(" UNION ALL "),
      parts.flatMap(() => values),
    );
    return rows.length > MAX_KNOWN ? null : rows.map(({ seq }) => Number(seq));
  }

  /** Finds the tasks that wait for an approval; null if they are many. */
  async function findWaiting(tenant: string): Promise<readonly number[] | null> {
    const rows = await all("SELECT task FROM approval WHERE tenant = ? AND state = 'pending' LIMIT ?", [tenant, MAX_KNOWN + 1]);
    return rows.length > MAX_KNOWN ? null : [...new Set(rows.map(({ task }) => Number(task)))];
  }

  /** Finds the tasks with an id, which has an index; null if they are many. */
  async function findFew(tenant: string, { sql, values }: Term): Promise<readonly number[] | null> {
    const rows = await all(`SELECT t.seq FROM task t WHERE t.tenant = ? AND ${sql} LIMIT ?`, [tenant, ...values, MAX_KNOWN + 1]);
    return rows.length > MAX_KNOWN ? null : rows.map(({ seq }) => Number(seq));
  }

  /** Finds the number of the first task since a time. Tasks are numbered in the order of their times, so this looks up about 20 of them. */
  async function findFirstSince(time: number): Promise<number> {
    const [newest] = await all("SELECT max(seq) AS seq FROM task", []);
    let [low, high] = [1, Number(newest?.["seq"] ?? 0) + 1];
    while (low < high) {
      const middle = Math.floor((low + high) / 2);
      const [row] = await all("SELECT seq, created_at FROM task WHERE seq >= ? ORDER BY seq LIMIT 1", [middle]);
      if (row === undefined || Number(row["created_at"]) >= time) high = middle;
      else low = Number(row["seq"]) + 1;
    }
    return low;
  }

  async function selectCandidates(search: TaskSearch, { before }: Page, known: readonly number[] | null): Promise<Term> {
    const { createdAfter, createdBefore } = search;
    const lowest = createdAfter === undefined ? 0 : await findFirstSince(createdAfter - TOLERATED_SKEW_MS);
    const end = createdBefore === undefined ? Number.MAX_SAFE_INTEGER : await findFirstSince(createdBefore + TOLERATED_SKEW_MS);
    const range = [lowest, Math.min(before ?? Number.MAX_SAFE_INTEGER, end), MAX_EXAMINED];
    const members = known ?? (await findMembers(search));
    const { table, number, condition } =
      members === null ? chooseIndex(search) : { ...ofMembers(numbers), condition: { sql: "", values: [members] } };
    const where = [condition.sql, `${number} >= ?`, `${number} < ?`].filter((sql) => sql !== "").join(" AND ");
    return {
      sql: `SELECT ${number} AS number FROM ${table} WHERE ${where} ORDER BY ${number} DESC LIMIT ?`,
      values: [...condition.values, ...range],
    };
  }

  /** Lists the tasks that match the search and the term. `known`: the only tasks that can match, if they are known. */
  async function listMatches(search: TaskSearch, page: Page, term: Term | null, known: readonly number[] | null): Promise<TaskPage> {
    const candidates = await selectCandidates(search, page, known);
    const candidate = `WITH candidate (number) AS (${candidates.sql})`;
    const terms = [...conditionsOf(search, like), ...(term === null ? [] : [term])];
    const rows = await all(
      `${candidate} SELECT t.seq FROM ${from} WHERE ${terms.map(({ sql }) => sql).join(" AND ")} ORDER BY number DESC LIMIT ?`,
      [...candidates.values, ...terms.flatMap(({ values }) => values), page.limit],
    );
    const found = rows.map(({ seq }) => Number(seq));
    const tasks = found.length === 0 ? [] : await readTasks(search.tenant, found);
    const isCut = tasks.length < found.length && tasks.length > 0;
    if (isCut || found.length === page.limit) return { tasks, next: tasks.at(-1)?.seq ?? found.at(-1) ?? null };
    const [examined] = await all(`${candidate} SELECT count(*) AS count, min(number) AS last FROM candidate`, candidates.values);
    return { tasks, next: Number(examined?.["count"]) < MAX_EXAMINED ? null : Number(examined?.["last"]) };
  }

  const searchText = createTextSearch({ findFew, listMatches, like });
  return {
    searchTasks: ({ text, ...search }, page) =>
      text === undefined ? listMatches(search, page, null, null) : searchText(search, text, page),
  };
}

const ofMembers = (numbers: string) => ({ table: numbers, number: "member.number" });

/** The index that is read: the one whose tasks are probably the fewest. */
function chooseIndex({ tenant, labels: [label] = [], callback, parentTaskId, agentId, provider, state, errorCode }: TaskSearch) {
  if (label !== undefined) {
    const condition = { sql: "tenant = ? AND name = ? AND value = ?", values: [tenant, label.name, label.value] };
    return { table: "task_label", number: "task", condition };
  }
  if (callback !== undefined)
    return { table: "callback", number: "task", condition: { sql: `tenant = ? AND state = '${callback}'`, values: [tenant] } };
  const ofTasks = (sql: string, ...values: string[]) => ({
    ...{ table: "task", number: "seq" },
    condition: { sql: `tenant = ?${sql}`, values: [tenant, ...values] },
  });
  if (parentTaskId !== undefined) return ofTasks(" AND parent_id = ?", parentTaskId);
  if (agentId !== undefined) return ofTasks(" AND agent_id = ?", agentId);
  const ended = state ?? (errorCode === undefined ? undefined : errorCode === "cancelled" ? "cancelled" : "failed");
  // Written as a literal, because a partial index serves no parameter. The state is from a closed list.
  if (ended !== undefined && isFinal(ended)) return ofTasks(` AND state = '${ended}' AND finished_at IS NOT NULL`);
  return provider === undefined ? ofTasks("") : ofTasks(" AND provider = ?", provider);
}

/** The conditions on a task `t`. */
function conditionsOf(search: TaskSearch, like: string): Term[] {
  const equal = (column: string, value: string | undefined): Term[] =>
    value === undefined ? [] : [{ sql: `${column} = ?`, values: [value] }];
  const { createdAfter, createdBefore, finishedAfter, finishedBefore, callback, waitingOn, idPrefix, root, title, labels = [] } = search;
  return [
    ...equal("t.tenant", search.tenant),
    ...equal("t.state", search.state),
    ...equal("t.provider", search.provider),
    ...equal("t.agent_id", search.agentId),
    ...equal("t.parent_id", search.parentTaskId),
    ...equal("error_code", search.errorCode),
    ...(createdAfter === undefined ? [] : [{ sql: "t.created_at >= ?", values: [createdAfter] }]),
    ...(createdBefore === undefined ? [] : [{ sql: "t.created_at < ?", values: [createdBefore] }]),
    ...(finishedAfter === undefined ? [] : [{ sql: "t.finished_at >= ?", values: [finishedAfter] }]),
    ...(finishedBefore === undefined ? [] : [{ sql: "t.finished_at < ?", values: [finishedBefore] }]),
    ...(callback === undefined ? [] : [{ sql: `(SELECT c.state FROM callback c WHERE c.task = t.seq) = ?`, values: [callback] }]),
    ...(waitingOn === undefined ? [] : [isWaitingForApproval]),
    ...(idPrefix === undefined ? [] : [hasPrefix(idPrefix)]),
    ...labels.map(({ name, value }) => ({
      ...{ sql: "(SELECT l.value FROM task_label l WHERE l.task = t.seq AND l.name = ?) = ?", values: [name, value] },
    })),
    ...(root === null ? [{ sql: "t.parent_seq IS NULL", values: [] }] : []),
    ...(title === undefined ? [] : [containsText("title", title, like)]),
  ];
}

const isWaitingForApproval: Term = { sql: "EXISTS (SELECT 1 FROM approval a WHERE a.task = t.seq AND a.state = 'pending')", values: [] };

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
interface TextSearchReads {
  /** Finds the tasks with an id; null if they are many. */
  findFew(tenant: string, term: Term): Promise<readonly number[] | null>;
  /** Lists the tasks that match the search and the term. `known`: the only tasks that can match, if they are known. */
  listMatches(search: TaskSearch, page: Page, term: Term | null, known: readonly number[] | null): Promise<TaskPage>;
  like: string;
}

/** Creates the search for tasks by a text. A page contains tasks of one part. */
function createTextSearch({ findFew, listMatches, like }: TextSearchReads) {
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
type Value = string | number | readonly number[];

/** A part of a statement with `?` for each of its values. */
interface Term {
  sql: string;
  values: readonly Value[];
}

/** Tests whether a column contains a text. `like` is the operator of the engine. */
const containsText = (column: string, text: string, like: string): Term => ({
  sql: `${column} ${like} ? ESCAPE '\\'`,
  values: [`%${escapeWildcards(text)}%`],
});

/** Tests whether a task `t` has a label with this name and a value that begins with this text. */
const hasLabel = (name: string, value: string, like: string): Term => ({
  sql: `(SELECT l.value FROM task_label l WHERE l.task = t.seq AND l.name = ?) ${like} ? ESCAPE '\\'`,
  values: [toColumnText(name), `${escapeWildcards(value)}%`],
});

/** Tests whether the id of a task `t` begins with a text. Ids contain only ASCII, so the next text after all of these is known. */
const hasPrefix = (prefix: string): Term => ({
  sql: "t.id >= ? AND t.id < ?",
  values: [prefix, `${prefix.slice(0, -1)}${String.fromCharCode(prefix.charCodeAt(prefix.length - 1) + 1)}`],
});

const escapeWildcards = (text: string): string => toColumnText(text).replaceAll(/[\\%_]/g, "\\$&");
