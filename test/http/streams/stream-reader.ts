import { get, type IncomingHttpHeaders, type IncomingMessage } from "node:http";
import { createParser, type EventSourceMessage } from "eventsource-parser";
import { onTestFinished } from "vitest";
import type { EventEnvelope } from "#contract";

/** One reader of a stream, over a socket of its own. */
export interface StreamReader {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly messages: EventSourceMessage[];
  readonly comments: string[];
  readonly retries: number[];
  /** The body as it came: what an answer that is no stream says. */
  readonly text: string;
  /** The envelopes of all events, control events left out. */
  envelopes(): EventEnvelope[];
  /** Resolves when so many events (control events not counted) have come; rejects when the stream ends before. */
  received(count: number): Promise<EventEnvelope[]>;
  /** Resolves when the condition holds, which is asked after each piece that comes; rejects when the stream ends before. */
  until(condition: (reader: StreamReader) => boolean): Promise<void>;
  /** How the stream ended: true for a clean end. */
  readonly ended: Promise<boolean>;
  /** Stops taking anything, as a stalled client does. */
  pause(): void;
  resume(): void;
  /** Leaves: with a FIN, or with a reset. */
  leave(how?: "fin" | "reset"): void;
}

export interface ReadOptions {
  token?: string | null;
  lastEventId?: string;
  accept?: string;
}

/** Opens a stream and resolves when the headers have come. */
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
  // A cut connection is an answer here, told by `ended`.
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

/** The numbers behind a list of event ids. */
export const numbersOf = (envelopes: readonly EventEnvelope[]): number[] => envelopes.map(({ id }) => Number(id.split("-")[1]));

/** The whole numbers from `first` to `last`. */
export const range = (first: number, last: number): number[] =>
  Array.from({ length: Math.max(0, last - first + 1) }, (_, index) => first + index);
