import { createParser } from "eventsource-parser";
import type { NormalizedUsage } from "#contract";
import { type Counts, mergeCounts, type Protocol } from "./protocol.ts";

/** Maximum size of one event, or of a response without events. */
const MAX_EVENT_BYTES = 8 * 1024 ** 2;

/** What the response of one call reports. */
export interface CallUsage {
  model?: string;
  usage?: NormalizedUsage;
  /** The response ended before the vendor reported its end, or could not be read. */
  incomplete: boolean;
}

/** Creates the reader of one response. It takes the largest of all counts, and never throws. */
export function createUsageReader(protocol: Protocol, contentType: string) {
  let model: string | undefined;
  let counts: Counts | undefined;
  let isComplete = false;
  let isLast = false;

  function take(data: unknown): void {
    const reading = protocol.read(data);
    model = reading.model ?? model;
    if (reading.counts !== undefined) counts = mergeCounts(counts ?? {}, reading.counts);
    if (reading.isLast === true) isLast = true;
    if (reading.isComplete === true || isLast) isComplete = true;
  }

  const format = /^\s*text\/event-stream/i.test(contentType) ? createEventFormat(protocol, take) : createJsonFormat(take);
  return {
    /** Reads the next bytes as latin1, which keeps the structure of JSON and of events. */
    add: (text: string): void => format.add(text),
    /** True if no later byte can change the usage. */
    get isDone(): boolean {
      return isLast;
    },
    /** Returns what the response has reported so far. */
    read: (): CallUsage => ({
      ...(model !== undefined && { model }),
      ...(counts !== undefined && { usage: protocol.toUsage(counts) }),
      incomplete: !isComplete,
    }),
    /** Returns what the response has reported. `isWhole`: the response did not break off. */
    end(isWhole: boolean): CallUsage {
      const isRead = format.end();
      return { ...this.read(), incomplete: !(isComplete || (isWhole && isRead)) };
    },
  };
}

/** Reads a stream of events. Only events that matter are parsed. */
function createEventFormat(protocol: Protocol, take: (data: unknown) => void) {
  const parser = createParser({
    onEvent: ({ data }) => take(parseJson(data)),
  });
  let rest: string[] = [];
  let restLength = 0;

  function feed(events: string): void {
    if (protocol.relevant.test(events)) parser.feed(events);
  }

  return {
    add(text: string): void {
      // The blank line between two events may be split between two chunks.
      const before = rest.at(-1)?.slice(-3) ?? "";
      const end = findLastEventEnd(before + text) - before.length;
      if (end < 0) {
        rest.push(text);
        restLength += text.length;
        if (restLength <= MAX_EVENT_BYTES) return;
        rest = [];
        restLength = 0;
        return;
      }
      rest.push(text.slice(0, end));
      feed(rest.join(""));
      rest = [text.slice(end)];
      restLength = text.length - end;
    },
    /** The events report whether the response is complete. */
    end(): boolean {
      feed(`${rest.join("")}\n\n`);
      rest = [];
      return false;
    },
  };
}

/** Returns the position after the last blank line; -1 if there is none. */
const findLastEventEnd = (text: string): number =>
  Math.max(...["\n\n", "\n\r\n", "\r\r"].map((blank) => (text.includes(blank) ? text.lastIndexOf(blank) + blank.length : -1)));

/** Reads a response of one JSON value. An array contains what a stream of events would contain. */
function createJsonFormat(take: (data: unknown) => void) {
  let parts: string[] = [];
  let length = 0;
  return {
    add(text: string): void {
      length += text.length;
      if (length <= MAX_EVENT_BYTES) parts.push(text);
      else parts = [];
    },
    /** Returns whether the value could be read. */
    end(): boolean {
      const value = length <= MAX_EVENT_BYTES ? parseJson(parts.join("")) : undefined;
      parts = [];
      for (const data of Array.isArray(value) ? value : [value]) take(data);
      return value !== undefined;
    },
  };
}

/** Returns the value; undefined if the text is not JSON. The end of a stream of chat completions is the text `[DONE]`. */
function parseJson(text: string): unknown {
  if (text.trim() === "[DONE]") return "[DONE]";
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
