import { setImmediate as nextTurn } from "node:timers/promises";
import { parseExactJson, toWellFormedJson } from "#contract";
import type { TaskIdentity, TaskRun } from "../../task.ts";
import type { ReadGapped } from "../posts/callback-rows.ts";
import { fillGaps, type GappedJson, type LongText } from "./gapped-json.ts";
import type { TaskStore } from "./interface.ts";

/** Maximum UTF-16 units of a text in one chunk. */
const CHUNK_LENGTH = 64 * 1024;
/** Approximate limits of one read of a long text, in rows and in UTF-16 units. */
export const LONG_TEXT_READ = { rows: 250, length: 256 * 1024 } as const;
/** Maximum memory of a reader of a long text: two parts, one of which is being sent. A UTF-16 unit takes up to six bytes in JSON. */
export const HELD_WHILE_READ_BYTES: number = 2 * (LONG_TEXT_READ.length + 6 * CHUNK_LENGTH);
/** Approximate size of the chunks that one write stores. */
const WRITE_BYTES = 512 * 1024;
/** Minimum average length of events that serve as the copy. For shorter events, the rows are longer than their text. */
const LEAST_SHARED_LENGTH = 256;
/** The `text` of chunks that were events. */
const EVENTS = 0;

const EVENT_START = '{"content":"';
const EVENT_END = '"}';

/** The column of an event's data for long texts. NULL for other types, which count as rows, so that one read does not skip a million. */
export const TEXT_OF_EVENT = "CASE WHEN type = 'assistant.text' THEN data END";

/** A stored part of a text, in the order of its number. `json` is the data of an event, or the inside of a JSON string. */
export interface TextRow {
  number: number;
  /** Null for an event of another type. */
  json: string | null;
}

/** A range of the parts of a text. */
export interface TextRange {
  /** The number of the text within its task. 0: the parts are the task's own events, before or after they became chunks. */
  text: number;
  first: number;
  last: number;
}

/** Chunks of a text to store. */
export interface TextChunks {
  text: number;
  /** The number of the first chunk. */
  first: number;
  chunks: readonly string[];
  bytes: number;
}

/** The rows of long texts, as an engine reads and writes them. */
export interface LongTextRows {
  /** Events of a task before a number, the newest first. One part of them, as limited by `LONG_TEXT_READ`. */
  readEventsBefore(taskSeq: number, number: number): Promise<readonly TextRow[]>;
  /** Parts of a text, beginning with the first of the range; one part of the range, as limited by `LONG_TEXT_READ`. */
  readRange(taskSeq: number, range: TextRange): Promise<readonly TextRow[]>;
  insertChunks(task: TaskRun, chunks: TextChunks): Promise<void>;
  /** Deletes the texts that `insertChunks` has stored for a task. */
  deleteChunks(task: TaskRun): Promise<void>;
}

/** The operations of long texts over the rows of an engine. The event loop is free between their reads and writes. */
export interface LongTexts extends Pick<TaskStore, "keepLongTexts"> {
  /** The whole JSON text, in parts. */
  readGapped: ReadGapped;
  /** The value of the whole JSON text. */
  parseGapped(taskSeq: number, stored: GappedJson): Promise<unknown>;
}

/** Creates the operations of long texts. */
export function createLongTexts(rows: LongTextRows): LongTexts {
  /** Checks whether the task's last text events add up to the text, from the last one backwards. */
  async function findInEvents(task: TaskIdentity, text: string): Promise<LongText | null> {
    let end = text.length;
    let rowsLeft = 64 + text.length / LEAST_SHARED_LENGTH;
    let first = Number.MAX_SAFE_INTEGER;
    let last: number | null = null;
    while (rowsLeft > 0) {
      const events = await rows.readEventsBefore(task.seq, first);
      if (events.length === 0) return null;
      for (const { number, json } of events) {
        first = number;
        if (json === null) continue;
        const content = contentOf(json);
        if (content === null || !text.endsWith(content, end)) return null;
        end -= content.length;
        last ??= first;
        if (end === 0) return { events: [first, last] };
        // Earlier versions could split a surrogate pair between two events, as two escapes.
        if (isPairAt(text, end)) return null;
      }
      rowsLeft -= events.filter(({ json }) => json !== null).length;
      await nextTurn();
    }
    return null;
  }

  async function store(task: TaskRun, id: number, text: string): Promise<LongText> {
    let chunks = 0;
    for (const slice of toSlices(text)) {
      await rows.insertChunks(task, { text: id, first: chunks + 1, ...slice });
      chunks += slice.chunks.length;
    }
    return { kept: id, chunks };
  }

  /** The parts of a text, each the inside of a JSON string. */
  async function* readText(taskSeq: number, text: LongText): AsyncGenerator<string, void, undefined> {
    const [id, first, last] = "events" in text ? [EVENTS, ...text.events] : [text.kept, 1, text.chunks];
    for (let next = first; next <= last; ) {
      const read = await rows.readRange(taskSeq, { text: id, first: next, last });
      if (read.length === 0) throw new Error("A long text was deleted while it was read.");
      const parts = read.flatMap(({ json }) => (json === null ? [] : id === EVENTS ? insideOf(json) : json));
      if (parts.length > 0) yield parts.join("");
      next = Number(read.at(-1)?.number) + 1;
      await nextTurn();
    }
  }

  /** Replaces unpaired surrogates, which earlier versions stored. */
  async function* readGapped(taskSeq: number, { json, gaps }: GappedJson): AsyncGenerator<string, void, undefined> {
    let copied = 0;
    for (const { at, text } of gaps) {
      yield toWellFormedJson(json.slice(copied, at));
      for await (const part of readText(taskSeq, text)) yield toWellFormedJson(part);
      copied = at;
    }
    yield toWellFormedJson(json.slice(copied));
  }

  return {
    readGapped,
    async parseGapped(taskSeq, stored) {
      const texts = new Map<string, string>();
      for (const { text } of stored.gaps) {
        const key = JSON.stringify(text);
        if (texts.has(key)) continue;
        let content = "";
        for await (const part of readText(taskSeq, text)) content += JSON.parse(`"${part}"`);
        texts.set(key, content);
      }
      return parseWith(stored, (text) => texts.get(JSON.stringify(text)) as string);
    },
    async keepLongTexts(task, texts) {
      await rows.deleteChunks(task);
      const kept: LongText[] = [];
      // The events contain no unpaired surrogates, and neither does what is stored.
      for (const [index, text] of texts.map((any) => any.toWellFormed()).entries())
        kept.push((await findInEvents(task, text)) ?? (await store(task, index + 1, text)));
      return kept;
    },
  };
}

/** Divides a text into slices of chunks, each of which one write stores. */
function* toSlices(text: string): Generator<Pick<TextChunks, "chunks" | "bytes">, void, undefined> {
  let chunks: string[] = [];
  let bytes = 0;
  for (let start = 0; start < text.length; ) {
    const end = Math.min(text.length, start + CHUNK_LENGTH);
    const cut = isPairAt(text, end) ? end - 1 : end;
    const json = JSON.stringify(text.slice(start, cut)).slice(1, -1);
    chunks.push(json);
    bytes += Buffer.byteLength(json);
    start = cut;
    if (bytes < WRITE_BYTES) continue;
    yield { chunks, bytes };
    chunks = [];
    bytes = 0;
  }
  if (chunks.length > 0) yield { chunks, bytes };
}

/** Parses a JSON text whose gaps contain these texts. */
function parseWith(stored: GappedJson, textOf: (text: LongText) => string): unknown {
  // No string of the JSON text is mistaken for a marker, because the prefix does not occur in it.
  const prefix = unusedPrefix(stored.json);
  const markers = new Map<string, string>();
  const json = fillGaps(stored, (text) => {
    const marker = `${prefix}${markers.size}`;
    markers.set(marker, textOf(text));
    return marker;
  });
  return parseExactJson(json, (value) => markers.get(value) ?? value);
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
