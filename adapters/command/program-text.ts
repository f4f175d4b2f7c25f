import type { AdapterEvent } from "#contract";
import { measureEncodedSize } from "../shared/process/encoded-size.ts";
import { createSurrogateJoiner } from "../shared/process/surrogate-joiner.ts";
import { createTextLimit } from "../shared/process/text-limit.ts";

/** Collects the text that a program prints, as lines or as deltas of text events, up to the limit of one task. */
export function createProgramText({ onText, onTooLong }: { onText(content: string): void; onTooLong(): void }) {
  let output = "";
  /** Length of the output up to the last tool event; `assistant.text_discarded` removes only later text. */
  let keptLength = 0;
  /** Text lines that are not emitted yet. The lines of one chunk become one event. */
  let pendingLines = "";
  const surrogates = createSurrogateJoiner();
  const isWithinLimit = createTextLimit();
  let isTooLong = false;

  function countBytes(bytes: number): void {
    if (isWithinLimit(bytes)) return;
    isTooLong = true;
    onTooLong();
  }

  function append(text: string): void {
    if (text === "") return;
    const content = text.toWellFormed();
    countBytes(measureEncodedSize(content));
    if (isTooLong) return;
    output += content;
    onText(content);
  }

  const flushDelta = (): void => append(surrogates.take());

  return {
    appendLine(line: string): void {
      flushDelta();
      pendingLines += line;
    },
    /** Emits the lines so far as one text. */
    flushLines(): void {
      const text = pendingLines;
      pendingLines = "";
      append(text);
    },
    /** Appends the content of a text event. The first half of a surrogate pair waits for the second. */
    appendDelta: (content: string): void => append(surrogates.join(content)),
    /** Emits an unpaired surrogate as U+FFFD. */
    flushDelta,
    /** Applies an event that is not text to the output. */
    noteEvent(type: AdapterEvent["type"]): void {
      if (type === "tool.invoked" || type === "tool.completed") keptLength = output.length;
      else if (type === "assistant.text_discarded") output = output.slice(0, keptLength);
    },
    /** Counts bytes of other events towards the limit. */
    countBytes,
    isTooLong: (): boolean => isTooLong,
    output: (): string => output,
  };
}
