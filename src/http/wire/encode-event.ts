import type { StoredEvent } from "../../events/event-feed.ts";

/** One message of an event stream; `data` is JSON text. */
export interface SseFrame {
  id?: string;
  event: string;
  data: string;
}

/** Encodes one server-sent event. Throws TypeError if a field contains a line break, which could forge another event. */
export function encodeSseFrame({ id, event, data }: SseFrame): string {
  for (const field of [id ?? "-", event]) {
    if (!isPlainLine(field)) throw new TypeError("The id and event of a frame must not be empty and must not contain control characters.");
  }
  if (/[\r\n]/.test(data)) throw new TypeError("The data of a frame must not contain line breaks.");
  return `${id === undefined ? "" : `id: ${id}\n`}event: ${event}\ndata: ${data}\n\n`;
}

/** Encodes an event as the JSON text that clients receive. The stored JSON text of `data` is inserted unchanged. */
export function encodeEventJson({ task, type, at, data }: StoredEvent, id: string): string {
  return `{"id":${JSON.stringify(id)},"type":"${type}",${encodeIdentity(task)},"timestamp":"${new Date(at).toISOString()}","data":${data}}`;
}

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

/** Creates the encoder that all streams share, so that each event is encoded only once. */
export function createEventEncoder(formatId: (number: number) => string): (events: readonly StoredEvent[]) => Buffer {
  const frames = new WeakMap<StoredEvent, string>();
  return (events) => Buffer.from(events.map(encodeFrame).join(""));

  function encodeFrame(event: StoredEvent): string {
    const cached = frames.get(event);
    if (cached !== undefined) return cached;
    const id = formatId(event.number);
    const frame = encodeSseFrame({ id, event: event.type, data: encodeEventJson(event, id) });
    frames.set(event, frame);
    return frame;
  }
}

/**
 * Returns false for an empty text, and for a text with control characters (C0, DEL, C1) or unpaired surrogates, which UTF-8 cannot
 * represent.
 */
const isPlainLine = (text: string): boolean => text !== "" && !/\p{Cc}/u.test(text) && text.isWellFormed();
