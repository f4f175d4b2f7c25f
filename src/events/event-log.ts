import type { AdapterLogger, EventType } from "#contract";
import type { Metrics } from "../metrics.ts";
import type { NewEvent, Store, StoredEvent } from "../store/store.ts";
import type { TaskIdentity } from "../task.ts";
import { encodeEventData } from "./encode-event-data.ts";
import { encodeTextDelta, MAX_TEXT_BYTES } from "./encode-text-delta.ts";
import { formatEventId } from "./event-id.ts";

/** Data of one write, in UTF-16 units. */
const WRITE_SLICE_LENGTH = 256 * 1024;
/** How long text deltas are gathered before they are stored as one event. */
const COALESCE_MS = 25;

/** Receives what each commit added to the log, in number order. */
export type EventListener = (events: readonly StoredEvent[]) => void;

/** The log of all tasks' stories. */
export interface EventLog {
  /** Appends one event to a running task's story: text deltas are coalesced, oversized data is cut, then stored; never throws, keeps order per task. */
  append(task: TaskIdentity, event: { type: EventType; data: Record<string, unknown> }): void;
  /** Hands everything appended for the task to the store, and resolves when it is durable (or refused because the task has ended). Never rejects. */
  settle(task: TaskIdentity): Promise<void>;
  /** Events after each commit, in number order, synchronously. Returns the unsubscribe function. */
  subscribe(listener: EventListener): () => void;
  /** `<epoch>-<number>`. */
  formatId(number: number): string;
  /** Stores what is still gathered and takes nothing more. */
  close(): Promise<void>;
}

/** What the log knows of a task while something of it is under way. */
interface Story {
  task: TaskIdentity;
  /** Text that more may be added to. */
  text: string;
  timer: NodeJS.Timeout | undefined;
  /** Events not handed to the store yet: those of one event-loop turn go together. */
  waiting: NewEvent[];
  immediate: NodeJS.Immediate | undefined;
  /** The newest write; those before it settle before it. */
  written: Promise<void>;
}

/** Creates the log over a store, whose one listener it becomes. */
export function createEventLog({ store, metrics, logger }: { store: Store; metrics: Metrics; logger: AdapterLogger }): EventLog {
  const stories = new Map<number, Story>();
  const listeners = new Set<EventListener>();
  let closed = false;

  store.onEvents((events) => {
    for (const listener of listeners) {
      try {
        listener(events);
      } catch (error) {
        // The commit has happened: a faulty listener must not look like a faulty commit.
        logger.error({ err: error }, "a listener of the event log failed");
      }
    }
  });

  function append(task: TaskIdentity, { type, data }: { type: EventType; data: Record<string, unknown> }): void {
    const content = type === "assistant.text" ? data["content"] : undefined;
    if (closed) drop(task, "late", 1);
    else if (typeof content === "string") gather(task, content);
    else appendWhole(task, type, data);
  }

  function gather(task: TaskIdentity, content: string): void {
    if (content === "") return;
    const story = storyOf(task);
    story.text += content;
    if (story.text.length >= MAX_TEXT_BYTES) flush(story);
    else story.timer ??= setTimeout(flush, COALESCE_MS, story);
  }

  function appendWhole(task: TaskIdentity, type: EventType, data: Record<string, unknown>): void {
    let json: string;
    try {
      json = encodeEventData(data);
    } catch (error) {
      // Live objects of an adapter can throw while they are read.
      logger.error({ err: error, taskId: task.taskId, tenant: task.tenant, type }, "an event's data cannot be read");
      drop(task, "invalid", 1);
      return;
    }
    const story = storyOf(task);
    takeText(story);
    story.waiting.push({ type, data: json });
    story.immediate ??= setImmediate(flush, story);
  }

  function storyOf(task: TaskIdentity): Story {
    const known = stories.get(task.seq);
    if (known !== undefined) return known;
    const story: Story = { task, text: "", timer: undefined, waiting: [], immediate: undefined, written: Promise.resolve() };
    stories.set(task.seq, story);
    return story;
  }

  function takeText(story: Story): void {
    clearTimeout(story.timer);
    story.timer = undefined;
    for (const data of encodeTextDelta(story.text)) story.waiting.push({ type: "assistant.text", data });
    story.text = "";
  }

  function flush(story: Story): void {
    takeText(story);
    clearImmediate(story.immediate);
    story.immediate = undefined;
    const events = story.waiting;
    story.waiting = [];
    writeInSlices(story, events);
  }

  /** Long data goes in several writes, so that no commit has to take all of it. */
  function writeInSlices(story: Story, events: readonly NewEvent[]): void {
    let start = 0;
    let length = 0;
    for (const [index, { data }] of events.entries()) {
      length += data.length;
      if (length < WRITE_SLICE_LENGTH && index < events.length - 1) continue;
      write(story, start === 0 && index === events.length - 1 ? events : events.slice(start, index + 1));
      [start, length] = [index + 1, 0];
    }
  }

  function write(story: Story, events: readonly NewEvent[]): void {
    const written = store
      .appendEventsIfRunning(story.task, events)
      .then((running) => {
        if (!running) drop(story.task, "late", events.length);
      })
      .catch((error: unknown) => {
        logger.error({ err: error, taskId: story.task.taskId, tenant: story.task.tenant }, "events were not stored");
        drop(story.task, "not_stored", events.length);
      })
      .then(() => {
        if (story.written === written && story.text === "" && story.waiting.length === 0) stories.delete(story.task.seq);
      });
    story.written = written;
  }

  function drop(task: TaskIdentity, reason: "late" | "invalid" | "not_stored", count: number): void {
    metrics.eventsDropped.inc({ provider: task.provider, reason }, count);
  }

  async function settle(task: TaskIdentity): Promise<void> {
    const story = stories.get(task.seq);
    if (story === undefined) return;
    flush(story);
    await story.written;
  }

  return {
    append,
    settle,
    subscribe(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    formatId: (number) => formatEventId(store.epoch, number),
    async close() {
      closed = true;
      await Promise.all([...stories.values()].map((story) => settle(story.task)));
    },
  };
}
