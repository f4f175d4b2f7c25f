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
  checkData(data);
  return `${id === undefined ? "" : `id: ${id}\n`}event: ${event}\ndata: ${data}\n\n`;
}

function checkData(data: string): void {
  if (data.includes("\n") || data.includes("\r")) throw new TypeError("The data of a frame must not contain line breaks.");
}

function checkLine(text: string): void {
  if (!isPlainLine(text)) throw new TypeError("The id and event of a frame must not be empty and must not contain control characters.");
}

/**
 * Encodes an event as the JSON text that clients receive. The stored JSON text of `data` is inserted unchanged. The id needs no escapes,
 * because it consists of letters, digits and a hyphen.
 */
export function encodeEventJson({ task, type, at, data }: StoredEvent, id: string): string {
  return `{"id":"${id}","type":"${type}",${encodeIdentity(task)},"timestamp":"${formatTime(at)}","data":${data}}`;
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
 * is checked only once. Without a name, the events are messages, which `onmessage` of an `EventSource` receives.
 */
export function createEventEncoder(
  formatId: (number: number) => string,
  { isNamed = true }: { isNamed?: boolean } = {},
): (events: readonly StoredEvent[]) => Buffer {
  const checkedTypes = new Set<string>();
  checkLine(formatId(0));
  return (events) => {
    let frames = "";
    for (const event of events) frames += encodeFrame(event);
    return Buffer.from(frames);
  };

  function encodeFrame(event: StoredEvent): string {
    const { type, number } = event;
    if (!checkedTypes.has(type)) {
      checkLine(type);
      checkedTypes.add(type);
    }
    // All other parts of the data are escaped. Searching the whole frame would copy it first.
    checkData(event.data);
    const id = formatId(number);
    return `id: ${id}\n${isNamed ? `event: ${type}\n` : ""}data: ${encodeEventJson(event, id)}\n\n`;
  }
}

/**
 * Returns false for an empty text, and for a text with control characters (C0, DEL, C1) or unpaired surrogates, which UTF-8 cannot
 * represent.
 */
const isPlainLine = (text: string): boolean => text !== "" && !/\p{Cc}/u.test(text) && text.isWellFormed();
