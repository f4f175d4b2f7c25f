import { setImmediate as nextTurn } from "node:timers/promises";
import type { TaskIdentity } from "../../task.ts";
import { fillGaps, type GappedJson, type LongText } from "../gapped-json.ts";
import type { Store } from "../store.ts";
import { createLengthLimit } from "./read-length.ts";
import { type Row, type SqliteDriver, WRITE_SLICE_BYTES } from "./sqlite-driver.ts";

/** Maximum UTF-16 units of a text in one chunk. */
const CHUNK_LENGTH = 64 * 1024;
/** Approximate limits of one read, in rows and in UTF-16 units. The event loop is free after each read. */
const READ_ROWS = 250;
const READ_LENGTH = 256 * 1024;
/** Maximum memory of a reader of a long text: two parts, one of which is being sent. A UTF-16 unit takes up to six bytes in JSON. */
export const HELD_WHILE_READ_BYTES: number = 2 * (READ_LENGTH + 6 * CHUNK_LENGTH);
/** Minimum average length of events that serve as the copy. For shorter events, the rows are longer than their text. */
const LEAST_SHARED_LENGTH = 256;

/** NULL for events of other types. They count as rows, so that one read does not skip a million of them at once. */
const TEXT_OF_EVENT = "CASE WHEN type = 'assistant.text' THEN data END";

const EVENT_START = '{"content":"';
const EVENT_END = '"}';

/** Store operations for long texts. They work in slices, with a turn of the event loop between them. */
export function createLongTextOperations(driver: SqliteDriver) {
  // After a crash between storing a text and the end of its task, no result refers to the text.
  driver.run(
    "DELETE FROM text_chunk WHERE task IN (SELECT seq FROM task WHERE result_gaps IS NULL AND seq IN (SELECT task FROM text_chunk))",
  );

  /** Checks whether the task's last text events add up to the text, from the last one backwards. */
  async function findInEvents(task: TaskIdentity, text: string): Promise<LongText | null> {
    let end = text.length;
    let rowsLeft = 64 + text.length / LEAST_SHARED_LENGTH;
    let first = Number.MAX_SAFE_INTEGER;
    let last: number | null = null;
    while (rowsLeft > 0) {
      const rows = driver.allUntil(
        createLengthLimit("data", READ_LENGTH),
        `SELECT number, ${TEXT_OF_EVENT} AS data FROM event WHERE task = ? AND number < ? ORDER BY number DESC LIMIT ?`,
        task.seq,
        first,
        READ_ROWS,
      );
      if (rows.length === 0) return null;
      for (const row of rows) {
        first = Number(row["number"]);
        if (row["data"] === null) continue;
        const content = contentOf(String(row["data"]));
        if (content === null || !text.endsWith(content, end)) return null;
        end -= content.length;
        last ??= first;
        if (end === 0) return { events: [first, last] };
        // A surrogate pair that is split between two events is two escapes there, and one character in the text.
        if (isPairAt(text, end)) return null;
      }
      rowsLeft -= rows.filter((row) => row["data"] !== null).length;
      await nextTurn();
    }
    return null;
  }

  async function write(task: TaskIdentity, id: number, text: string): Promise<LongText> {
    let chunks = 0;
    let slice: string[] = [];
    let bytes = 0;
    const store = async (): Promise<void> => {
      const [first, rows] = [chunks, slice];
      chunks += rows.length;
      slice = [];
      await driver.write(
        () => {
          for (const [index, json] of rows.entries())
            driver.run("INSERT INTO text_chunk (task, text, number, json) VALUES (?, ?, ?, ?)", task.seq, id, first + index + 1, json);
        },
        { patient: true, bytes },
      );
      bytes = 0;
    };
    for (let start = 0; start < text.length; ) {
      const end = Math.min(text.length, start + CHUNK_LENGTH);
      const cut = isPairAt(text, end) ? end - 1 : end;
      const json = JSON.stringify(text.slice(start, cut)).slice(1, -1);
      slice.push(json);
      bytes += Buffer.byteLength(json);
      start = cut;
      if (bytes >= WRITE_SLICE_BYTES) await store();
    }
    if (slice.length > 0) await store();
    return { kept: id, chunks };
  }

  /** The parts of a text, each the inside of a JSON string. */
  async function* readText(taskSeq: number, text: LongText): AsyncGenerator<string, void, undefined> {
    const [id, first, last] = "events" in text ? [0, ...text.events] : [text.kept, 1, text.chunks];
    const isLongEnough = () => createLengthLimit("json", READ_LENGTH);
    for (let next = first; next <= last; ) {
      let rows: Row[] = driver.allUntil(
        isLongEnough(),
        "SELECT number, json FROM text_chunk WHERE task = ? AND text = ? AND number >= ? ORDER BY number LIMIT ?",
        taskSeq,
        id,
        next,
        READ_ROWS,
      );
      // Events are moved to the chunks when they are pruned before their task, the oldest first.
      if (rows.length === 0 && id === 0)
        rows = driver.allUntil(
          isLongEnough(),
          `SELECT number, ${TEXT_OF_EVENT} AS json FROM event WHERE task = ? AND number >= ? AND number <= ? ORDER BY number LIMIT ?`,
          taskSeq,
          next,
          last,
          READ_ROWS,
        );
      if (rows.length === 0) throw new Error("A long text was deleted while it was read.");
      const parts = rows.filter((row) => row["json"] !== null).map(({ json }) => (id === 0 ? insideOf(String(json)) : String(json)));
      if (parts.length > 0) yield parts.join("");
      next = Number(rows.at(-1)?.["number"]) + 1;
      await nextTurn();
    }
  }

  /** The whole JSON text, in parts. */
  async function* readGapped(taskSeq: number, { json, gaps }: GappedJson): AsyncGenerator<string, void, undefined> {
    let copied = 0;
    for (const { at, text } of gaps) {
      yield json.slice(copied, at);
      yield* readText(taskSeq, text);
      copied = at;
    }
    yield json.slice(copied);
  }

  /** The value of the whole JSON text. */
  async function parseGapped(taskSeq: number, stored: GappedJson): Promise<unknown> {
    const texts = new Map<string, string>();
    for (const { text } of stored.gaps) {
      const key = JSON.stringify(text);
      if (texts.has(key)) continue;
      let content = "";
      for await (const part of readText(taskSeq, text)) content += JSON.parse(`"${part}"`);
      texts.set(key, content);
    }
    // No string of the JSON text is mistaken for a marker, because the prefix does not occur in it.
    const prefix = unusedPrefix(stored.json);
    const markers = new Map<string, string>();
    const json = fillGaps(stored, (text) => {
      const marker = `${prefix}${markers.size}`;
      markers.set(marker, texts.get(JSON.stringify(text)) as string);
      return marker;
    });
    return JSON.parse(json, (_, value: unknown) => (typeof value === "string" ? (markers.get(value) ?? value) : value));
  }

  return {
    readGapped,
    parseGapped,
    operations: {
      async keepLongTexts(task, texts) {
        await driver.write(() => driver.run("DELETE FROM text_chunk WHERE task = ? AND text > 0", task.seq), { patient: true });
        const kept: LongText[] = [];
        for (const [index, text] of texts.entries()) kept.push((await findInEvents(task, text)) ?? (await write(task, index + 1, text)));
        return kept;
      },
    } satisfies Partial<Store>,
  };
}

/** A prefix that does not occur in the JSON text. */
function unusedPrefix(json: string): string {
  let number = 0;
  while (json.includes(`gap-${number}-`)) number += 1;
  return `gap-${number}-`;
}

/** The text of an `assistant.text` event; null when its data has another form. */
function contentOf(data: string): string | null {
  if (!data.startsWith(EVENT_START) || !data.endsWith(EVENT_END)) return null;
  const { content } = JSON.parse(data) as { content: string };
  return data.length - EVENT_START.length - EVENT_END.length >= content.length ? content : null;
}

/** The part that goes into a longer string. */
const insideOf = (data: string): string => data.slice(EVENT_START.length, -EVENT_END.length);

/** Whether a cut here would split a surrogate pair. */
function isPairAt(text: string, index: number): boolean {
  const [before, after] = [text.charCodeAt(index - 1), text.charCodeAt(index)];
  return before >= 0xd800 && before <= 0xdbff && after >= 0xdc00 && after <= 0xdfff;
}
