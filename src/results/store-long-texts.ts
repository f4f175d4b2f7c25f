import { randomUUID } from "node:crypto";
import type { ExecutionResult } from "#contract";
import type { EventLog } from "../events/event-log.ts";
import type { Store } from "../store/store.ts";
import { cutGaps, type GappedJson } from "../store/tasks/gapped-json.ts";
import type { Task } from "../task.ts";

/**
 * Texts with more UTF-16 units than this are stored once, outside of the documents that contain them. Storing shorter texts inline costs
 * less.
 */
const LONG_TEXT_LENGTH = 128 * 1024;

/** A result whose long texts are stored. */
export interface MarkedResult {
  /** The result with a short marker in place of each long text. */
  result: ExecutionResult;
  /** Replaces the markers in a JSON text by references to the stored texts. */
  cutMarkers(json: string): GappedJson;
}

/** Stores each long text of a result once, before the task ends. Returns null synchronously if the result has no long text. */
export function storeLongTexts(
  { store, eventLog }: { store: Store; eventLog: EventLog },
  task: Task,
  result: ExecutionResult,
): Promise<MarkedResult> | null {
  const { output, conversationMessages } = result;
  const hasLong = isLong(output) || conversationMessages?.some(({ content }) => isLong(content)) === true;
  return hasLong ? mark() : null;

  async function mark(): Promise<MarkedResult> {
    const texts = [...new Set(listTexts(result).filter(isLong))];
    // The store reuses texts of the task's events, so those are written first.
    await eventLog.flush(task);
    const references = await store.keepLongTexts(task, texts);
    const id = randomUUID();
    const markers = new Map(texts.map((text, index) => [text, `${id}-${index}.`]));
    const referenceOf = new Map(references.map((reference, index) => [`${id}-${index}.`, reference]));
    return { result: replaceTexts(result, (text) => markers.get(text) ?? text), cutMarkers: (json) => cutGaps(json, referenceOf) };
  }
}

const isLong = (text: string | undefined): text is string => text !== undefined && text.length > LONG_TEXT_LENGTH;

const listTexts = ({ output, conversationMessages }: ExecutionResult): (string | undefined)[] =>
  conversationMessages === undefined ? [output] : [output, ...conversationMessages.map(({ content }) => content)];

function replaceTexts(result: ExecutionResult, replace: (text: string) => string): ExecutionResult {
  const { output, conversationMessages } = result;
  return {
    ...result,
    ...(output !== undefined && { output: replace(output) }),
    ...(conversationMessages !== undefined && {
      conversationMessages: conversationMessages.map((message) => ({ ...message, content: replace(message.content) })),
    }),
  };
}
