import { get, type IncomingHttpHeaders, type IncomingMessage } from "node:http";
import { createParser, type EventSourceMessage } from "eventsource-parser";
import { onTestFinished } from "vitest";
import type { EventEnvelope } from "#contract";

/** The client of one stream, with its own socket. */
export interface StreamReader {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly messages: EventSourceMessage[];
  readonly comments: string[];
  readonly retries: number[];
  /** The raw body, for responses that are not streams. */
  readonly text: string;
  /** All events, without control events. */
  envelopes(): EventEnvelope[];
  /** Resolves when this number of events, without control events, has arrived; rejects if the stream ends earlier. */
  received(count: number): Promise<EventEnvelope[]>;
  /** Resolves when the condition holds, which is checked after each chunk; rejects if the stream ends earlier. */
  until(condition: (reader: StreamReader) => boolean): Promise<void>;
  /** Resolves to whether the stream ended cleanly. */
  readonly ended: Promise<boolean>;
  /** Stops reading, like a stalled client. */
  pause(): void;
  resume(): void;
  /** Disconnects with a FIN or a reset. */
  leave(how?: "fin" | "reset"): void;
}

export interface ReadOptions {
  token?: string | null;
  lastEventId?: string;
  accept?: string;
}

/** Opens a stream and resolves when the headers have arrived. */
export async function openReader(
  url: string,
  { token = "default", lastEventId, accept = "text/event-stream" }: ReadOptions = {},
): Promise<StreamReader> {
  const headers: Record<string, string> = { accept };
  if (token !== null) headers["authorization"] = `Bearer ${token}`;
  if (lastEventId !== undefined) headers["last-event-id"] = lastEventId;
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    get(url, { headers, agent: false }, resolve).once("error", reject);
  });
  onTestFinished(() => void response.destroy());
  return readStream(response);
}

function readStream(response: IncomingMessage): StreamReader {
  const messages: EventSourceMessage[] = [];
  const comments: string[] = [];
  const retries: number[] = [];
  const pieces: string[] = [];
  const watchers = new Set<() => void>();
  const parser = createParser({
    onEvent: (message) => void messages.push(message),
    onComment: (comment) => void comments.push(comment),
    onRetry: (retry) => void retries.push(retry),
  });
  response.setEncoding("utf8");
  response.on("data", (piece: string) => {
    pieces.push(piece);
    parser.feed(piece);
    for (const watch of watchers) watch();
  });
  const ended = new Promise<boolean>((resolve) => {
    response.once("close", () => resolve(response.complete));
  });
  // `ended` reports a broken connection.
  response.on("error", () => {});

  const reader: StreamReader = {
    status: response.statusCode ?? 0,
    headers: response.headers,
    messages,
    comments,
    retries,
    get text() {
      return pieces.join("");
    },
    envelopes: () => messages.filter(({ id }) => id !== undefined).map(({ data }) => JSON.parse(data) as EventEnvelope),
    async received(count) {
      await reader.until(() => messages.filter(({ id }) => id !== undefined).length >= count);
      return reader.envelopes();
    },
    until: (condition) =>
      new Promise((resolve, reject) => {
        const watch = (): void => {
          if (!condition(reader)) return;
          watchers.delete(watch);
          resolve();
        };
        watchers.add(watch);
        watch();
        void ended.then(() => reject(new Error(`the stream ended after ${messages.length} messages`)));
      }),
    ended,
    pause: () => void response.pause(),
    resume: () => void response.resume(),
    leave(how = "fin") {
      if (how === "reset") response.socket.resetAndDestroy();
      else response.socket.destroy();
    },
  };
  return reader;
}

/** Parses event ids into their numbers. */
export const numbersOf = (envelopes: readonly EventEnvelope[]): number[] => envelopes.map(({ id }) => Number(id.split("-")[1]));

/** Returns the integers from `first` to `last`. */
export const range = (first: number, last: number): number[] =>
  Array.from({ length: Math.max(0, last - first + 1) }, (_, index) => first + index);
