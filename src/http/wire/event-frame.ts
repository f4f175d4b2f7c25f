import type { StoredEvent } from "../../events/event-feed.ts";

/** One message of an event stream; `data` is JSON text. */
export interface Frame {
  id?: string;
  event: string;
  data: string;
}

/** Writes one server-sent event. Refuses what could forge a second one: control characters in `id` or `event`, more than one line of data. */
export function encodeFrame({ id, event, data }: Frame): string {
  for (const field of [id ?? "-", event]) {
    if (!isPlainLine(field)) throw new TypeError("The id and the event of a frame are not empty and hold no control characters.");
  }
  if (/[\r\n]/.test(data)) throw new TypeError("The data of a frame is one line.");
  return `${id === undefined ? "" : `id: ${id}\n`}event: ${event}\ndata: ${data}\n\n`;
}

/** An event as clients see it, as JSON text around its stored data. */
export function encodeEnvelope({ task, type, at, data }: StoredEvent, id: string): string {
  return `{"id":${JSON.stringify(id)},"type":"${type}",${encodeIdentity(task)},"timestamp":"${new Date(at).toISOString()}","data":${data}}`;
}

/** The same for all events of a task that runs. */
function encodeIdentity(task: StoredEvent["task"]): string {
  const known = identities.get(task);
  if (known !== undefined) return known;
  const { taskId, parentTaskId, agentId, provider } = task;
  const parent = parentTaskId === null ? "" : `"parentTaskId":${JSON.stringify(parentTaskId)},`;
  const text = `"taskId":${JSON.stringify(taskId)},${parent}"agentId":${JSON.stringify(agentId)},"provider":${JSON.stringify(provider)}`;
  identities.set(task, text);
  return text;
}
const identities = new WeakMap<StoredEvent["task"], string>();

/** Creates the encoder that all readers of a log share: each event becomes bytes once. */
export function createEventEncoder(formatId: (number: number) => string): (event: StoredEvent) => Buffer {
  const frames = new WeakMap<StoredEvent, Buffer>();
  return (event) => {
    const known = frames.get(event);
    if (known !== undefined) return known;
    const id = formatId(event.number);
    const frame = Buffer.from(encodeFrame({ id, event: event.type, data: encodeEnvelope(event, id) }));
    frames.set(event, frame);
    return frame;
  };
}

/** No C0, DEL or C1, and no half of a surrogate pair, which would not arrive as it was. */
const isPlainLine = (text: string): boolean => text !== "" && !/\p{Cc}/u.test(text) && text.isWellFormed();
