import { randomUUID } from "node:crypto";
import type { ExecutionResult } from "#contract";
import type { EventLog } from "../events/event-log.ts";
import { cutGaps, type GappedJson } from "../store/gapped-json.ts";
import type { Store } from "../store/store.ts";
import type { Task } from "../task.ts";

/** A text of more UTF-16 units is stored once, apart from the documents that contain it; shorter ones cost less inside. */
const LONG_TEXT_LENGTH = 128 * 1024;

/** A result whose long texts are in the store already. */
export interface KeptResult {
  /** The result with a short marker for each long text. */
  marked: ExecutionResult;
  /** Turns JSON that contains markers into the stored form. */
  cut(json: string): GappedJson;
}

/** Stores the long texts of a result, each once, before the task ends. Null, at once, when it has none. */
export function keepLongTexts(
  { store, eventLog }: { store: Pick<Store, "keepLongTexts">; eventLog: Pick<EventLog, "settle"> },
  task: Task,
  result: ExecutionResult,
): Promise<KeptResult> | null {
  const { output, conversationMessages } = result;
  const hasLong = isLong(output) || conversationMessages?.some(({ content }) => isLong(content)) === true;
  return hasLong ? keep() : null;

  async function keep(): Promise<KeptResult> {
    const texts = [...new Set(textsOf(result).filter(isLong))];
    // The text events of the task may hold what its result repeats.
    await eventLog.settle(task);
    const kept = await store.keepLongTexts(task, texts);
    const id = randomUUID();
    const markers = new Map(texts.map((text, index) => [text, `${id}-${index}.`]));
    const places = new Map(kept.map((place, index) => [`${id}-${index}.`, place]));
    return { marked: withTexts(result, (text) => markers.get(text) ?? text), cut: (json) => cutGaps(json, places) };
  }
}

const isLong = (text: string | undefined): text is string => text !== undefined && text.length > LONG_TEXT_LENGTH;

const textsOf = ({ output, conversationMessages }: ExecutionResult): (string | undefined)[] =>
  conversationMessages === undefined ? [output] : [output, ...conversationMessages.map(({ content }) => content)];

function withTexts(result: ExecutionResult, replace: (text: string) => string): ExecutionResult {
  const { output, conversationMessages } = result;
  return {
    ...result,
    ...(output !== undefined && { output: replace(output) }),
    ...(conversationMessages !== undefined && {
      conversationMessages: conversationMessages.map((message) => ({ ...message, content: replace(message.content) })),
    }),
  };
}
