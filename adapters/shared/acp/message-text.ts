import type { TaskTimeline } from "../agent-program/task-timeline.ts";

/** A part of a message that the agent has received completely. */
export interface CompletePart {
  id: string;
  text: string;
  /** The agent wrote the message itself, such as an error, so that it is not part of the answer. */
  isOwn: boolean;
}

const INCOMPLETE = "The model's answer was incomplete.";
const CONTINUED = "The agent continued with another message.";

/**
 * Creates the text of the messages of a session. If the agent reports complete parts, text of a message that was streamed and never
 * completed is discarded when the next message starts: the agent has requested it again. With `lastOnly`, the last message is the answer,
 * and earlier ones are discarded.
 */
export function createMessageText(
  timeline: Pick<TaskTimeline, "appendText" | "keepText" | "discardText">,
  { lastOnly }: { lastOnly: boolean },
) {
  const ownIds = new Set<string>();
  let reportsParts = false;
  /** The last complete part, until text follows it. */
  let last: CompletePart | undefined;
  let current: { id: string | undefined; streamed: string; complete: string } = { id: undefined, streamed: "", complete: "" };

  /** Ends the current message. */
  function endMessage(): void {
    const { streamed, complete } = current;
    if (lastOnly) {
      if (streamed !== "") timeline.discardText(CONTINUED);
      return;
    }
    if (reportsParts && streamed.trim() !== complete.trim() && streamed.startsWith(complete)) {
      timeline.discardText(INCOMPLETE);
      if (complete !== "") timeline.appendText(complete);
    }
    timeline.keepText();
  }

  return {
    /** Appends a delta. Returns false if the agent wrote the message itself. */
    append(id: string | undefined, text: string): boolean {
      if (id !== undefined && ownIds.has(id)) return false;
      if (id !== current.id) {
        endMessage();
        // The only part of a message that is not streamed is reported before its text.
        current = { id, streamed: "", complete: last !== undefined && last.id === id ? last.text : "" };
      }
      last = undefined;
      current.streamed += text;
      timeline.appendText(text);
      return true;
    },
    /** Records a complete part. It is reported after its deltas, or before the text if the message is not streamed. */
    complete(part: CompletePart): void {
      reportsParts = true;
      if (part.isOwn) ownIds.add(part.id);
      else if (part.id === current.id) current.complete += part.text;
      else last = part;
    },
    /** Forgets the text before a tool call, which stays. */
    restart(): void {
      current = { ...current, streamed: "", complete: "" };
    },
  };
}
