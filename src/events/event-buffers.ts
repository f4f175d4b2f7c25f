import type { AdapterLogger, EventType } from "#contract";
import type { NewEvent } from "../store/events/interface.ts";
import type { Store } from "../store/store.ts";
import type { TaskIdentity, TaskRun } from "../task.ts";
import { encodeEventData } from "./encode-event-data.ts";
import { encodeTextDelta, MAX_TEXT_BYTES } from "./encode-text-delta.ts";

/** Maximum event data of one write, in UTF-16 units. */
const WRITE_SLICE_LENGTH = 256 * 1024;
/** Time during which text deltas are combined into one event. */
const COALESCE_MS = 25;

/** The events of a task that are not durable yet. */
interface TaskBuffer {
  task: TaskRun;
  /** Text deltas that are combined into one event. */
  text: string;
  timer: NodeJS.Timeout | undefined;
  /** Events that the store does not have yet. Those of one event-loop turn are written together. */
  waiting: NewEvent[];
  immediate: NodeJS.Immediate | undefined;
  /** The last write. Earlier writes end before it. */
  written: Promise<void>;
}

/** Why an event was dropped. */
export type DropReason = "late" | "invalid" | "not_stored";

interface EventBuffersOptions {
  store: Pick<Store, "appendEventsIfRunning">;
  logger: AdapterLogger;
  onDropped(task: TaskIdentity, reason: DropReason, count: number): void;
}

/** Creates the buffers of the events that are not durable yet: they combine text deltas, and keep the order of each task. */
export function createEventBuffers({ store, logger, onDropped }: EventBuffersOptions) {
  const buffers = new Map<number, TaskBuffer>();

  function appendText(task: TaskRun, content: string): void {
    if (content === "") return;
    const buffer = bufferOf(task);
    buffer.text += content;
    if (buffer.text.length >= MAX_TEXT_BYTES) flushBuffer(buffer);
    else buffer.timer ??= setTimeout(flushBuffer, COALESCE_MS, buffer);
  }

  function appendWhole(task: TaskRun, type: EventType, data: Record<string, unknown>): void {
    let json: string;
    try {
      json = encodeEventData(data);
    } catch (error) {
      // Getters of an adapter's objects may throw.
      logger.error({ err: error, taskId: task.taskId, tenant: task.tenant, type }, "failed to read event data");
      onDropped(task, "invalid", 1);
      return;
    }
    const buffer = bufferOf(task);
    combineText(buffer);
    buffer.waiting.push({ type, data: json });
    buffer.immediate ??= setImmediate(flushBuffer, buffer);
  }

  function bufferOf(task: TaskRun): TaskBuffer {
    const known = buffers.get(task.seq);
    if (known !== undefined) return known;
    const buffer: TaskBuffer = { task, text: "", timer: undefined, waiting: [], immediate: undefined, written: nothingWritten };
    buffers.set(task.seq, buffer);
    return buffer;
  }

  function flushBuffer(buffer: TaskBuffer): void {
    combineText(buffer);
    clearImmediate(buffer.immediate);
    buffer.immediate = undefined;
    const events = buffer.waiting;
    buffer.waiting = [];
    writeInSlices(buffer, events, write);
  }

  function write(buffer: TaskBuffer, events: readonly NewEvent[]): void {
    const { task } = buffer;
    const written = store.appendEventsIfRunning(task, events).then(
      (running) => {
        if (!running) onDropped(task, "late", events.length);
        forget(buffer, written);
      },
      (error: unknown) => {
        logger.error({ err: error, taskId: task.taskId, tenant: task.tenant }, "failed to store events");
        onDropped(task, "not_stored", events.length);
        forget(buffer, written);
      },
    );
    buffer.written = written;
  }

  /** Forgets a buffer after its last write. */
  function forget(buffer: TaskBuffer, written: Promise<void>): void {
    if (buffer.written === written && buffer.text === "" && buffer.waiting.length === 0) buffers.delete(buffer.task.seq);
  }

  /** Hands all events of the task to the store. Resolves when they are durable or dropped; never rejects. */
  function flush(task: TaskIdentity): Promise<void> {
    const buffer = buffers.get(task.seq);
    if (buffer === undefined) return nothingWritten;
    flushBuffer(buffer);
    return buffer.written;
  }

  return {
    appendText,
    appendWhole,
    flush,
    /** Flushes the buffers of all tasks. */
    flushAll: async (): Promise<void> => void (await Promise.all([...buffers.values()].map(({ task }) => flush(task)))),
  };
}

const nothingWritten = Promise.resolve();

/** Moves the combined text to the waiting events. */
function combineText(buffer: TaskBuffer): void {
  if (buffer.text === "") return;
  clearTimeout(buffer.timer);
  buffer.timer = undefined;
  for (const data of encodeTextDelta(buffer.text)) buffer.waiting.push({ type: "assistant.text", data });
  buffer.text = "";
}

/** Splits long data into several writes, so that no commit is long. */
function writeInSlices(
  buffer: TaskBuffer,
  events: readonly NewEvent[],
  write: (buffer: TaskBuffer, events: readonly NewEvent[]) => void,
): void {
  let start = 0;
  let length = 0;
  for (let index = 0; index < events.length; index += 1) {
    length += (events[index] as NewEvent).data.length;
    if (length < WRITE_SLICE_LENGTH && index < events.length - 1) continue;
    write(buffer, start === 0 && index === events.length - 1 ? events : events.slice(start, index + 1));
    start = index + 1;
    length = 0;
  }
}
