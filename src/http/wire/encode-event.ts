import type { StoredEvent } from "../../events/event-feed.ts";

/** One message of an event stream; `data` is JSON text. */
export interface SseFrame {
  id?: string;
  event: string;
  data: string;
}

/** Encodes one server-sent event. Throws TypeError if a field contains a line break, which could forge another event. */
export function encodeSseFrame({ id, event, data }: SseFrame): string {
  if (id !== undefined) checkLine(id);
  checkLine(event);
  return formatFrame(id, event, data);
}

/** Checks only the data, which is a fast search. */
function formatFrame(id: string | undefined, event: string, data: string): string {
  if (data.includes("\n") || data.includes("\r")) throw new TypeError("The data of a frame must not contain line breaks.");
  return `${id === undefined ? "" : `id: ${id}\n`}event: ${event}\ndata: ${data}\n\n`;
}

function checkLine(text: string): void {
  if (!isPlainLine(text)) throw new TypeError("The id and event of a frame must not be empty and must not contain control characters.");
}

/** Encodes an event as the JSON text that clients receive. The stored JSON text of `data` is inserted unchanged. */
export function encodeEventJson({ task, type, at, data }: StoredEvent, id: string): string {
  return `{"id":${JSON.stringify(id)},"type":"${type}",${encodeIdentity(task)},"timestamp":"${formatTime(at)}","data":${data}}`;
}

/** Formats a time in ms. The last one is cached, because the events of a commit often have the same time. */
function formatTime(at: number): string {
  if (at !== lastTime.at) lastTime = { at, text: new Date(at).toISOString() };
  return lastTime.text;
}
let lastTime = { at: 0, text: new Date(0).toISOString() };

/** Encodes the fields that identify the task. Cached, because they are the same for all events of a task. */
function encodeIdentity(task: StoredEvent["task"]): string {
  const cached = identities.get(task);
  if (cached !== undefined) return cached;
  const { taskId, parentTaskId, agentId, provider } = task;
  const parent = parentTaskId === null ? "" : `"parentTaskId":${JSON.stringify(parentTaskId)},`;
  const text = `"taskId":${JSON.stringify(taskId)},${parent}"agentId":${JSON.stringify(agentId)},"provider":${JSON.stringify(provider)}`;
  identities.set(task, text);
  return text;
}
const identities = new WeakMap<StoredEvent["task"], string>();

/**
 * Creates the encoder of stored events, which encodes them into one buffer. Ids differ only in their number, and few types exist, so each
 * is checked only once.
 */
export function createEventEncoder(formatId: (number: number) => string): (events: readonly StoredEvent[]) => Buffer {
  const checkedTypes = new Set<string>();
  checkLine(formatId(0));
  return (events) => Buffer.from(events.map(encodeFrame).join(""));

  function encodeFrame(event: StoredEvent): string {
    const { type, number } = event;
    if (!checkedTypes.has(type)) {
      checkLine(type);
      checkedTypes.add(type);
    }
    const id = formatId(number);
    return formatFrame(id, type, encodeEventJson(event, id));
  }
}

/**
 * Returns false for an empty text, and for a text with control characters (C0, DEL, C1) or unpaired surrogates, which UTF-8 cannot
 * represent.
 */
const isPlainLine = (text: string): boolean => text !== "" && !/\p{Cc}/u.test(text) && text.isWellFormed();
