import type { LanguageModelMiddleware } from "ai";
import type { Step } from "../agent-program/run-program.ts";

const OPENING = "<think>";
const CLOSING = "</think>";
const DISCARDED = "The text before </think> is the model's thoughts.";

/**
 * Removes the thoughts that some endpoints leave at the beginning of an answer, between `<think>` and `</think>`. Some omit the opening
 * tag. Then the closing tag must be the first text of its line and outside code, because an answer can mention it.
 */
export function omitThoughts(text: string): string {
  const at = text.indexOf(CLOSING);
  const isOpened = text.trimStart().startsWith(OPENING);
  if (at === -1) return isOpened ? "" : text;
  const before = text.slice(0, at);
  const isEnd = isOpened || (/(^|\n)[ \t]*$/.test(before) && !before.includes(OPENING) && !before.includes("```"));
  return isEnd ? text.slice(at + CLOSING.length).trimStart() : text;
}

/** Creates a filter that converts the streamed text of one model call to steps without thoughts. */
export function createThoughtFilter() {
  let state: "beginning" | "thoughts" | "blanks" | "text" = "beginning";
  /** The text so far, until it is known whether it contains thoughts. */
  let text = "";
  let isChecked = false;
  const emit = (chunk: string): Step[] => (chunk === "" ? [] : [{ kind: "text", text: chunk }]);
  /** Emits text without the blanks between thoughts and answer. */
  const emitAnswer = (chunk: string): Step[] => {
    const answer = chunk.trimStart();
    state = answer === "" ? "blanks" : "text";
    isChecked = true;
    text = "";
    return emit(answer);
  };

  return {
    /** Reads the next text. */
    read(delta: string): Step[] {
      if (state === "blanks") return emitAnswer(delta);
      if (isChecked) return emit(delta);
      // A tag can be split, so the end of the previous text is searched again.
      const tail = text.slice(-CLOSING.length) + delta;
      text = state === "thoughts" ? tail : text + delta;
      if (state === "beginning") {
        const start = text.trimStart();
        if (start.length < OPENING.length && OPENING.startsWith(start)) return [];
        state = start.startsWith(OPENING) ? "thoughts" : "text";
        if (state === "text" && !text.includes(CLOSING)) return emit(text);
      }
      if (!(state === "thoughts" ? text : tail).includes(CLOSING)) return state === "thoughts" ? [] : emit(delta);
      if (state === "thoughts") return emitAnswer(text.slice(text.indexOf(CLOSING) + CLOSING.length));
      isChecked = true;
      const answer = omitThoughts(text);
      return answer === text ? emit(delta) : [{ kind: "discarded", reason: DISCARDED }, ...emitAnswer(answer)];
    },
    /** Returns the text that waited for more. */
    finish: (): Step[] => (state === "beginning" ? emit(text) : []),
  };
}

/** Removes thoughts from the earlier answers of a conversation, so that the model does not receive them again. */
export const omitEarlierThoughts: LanguageModelMiddleware = {
  transformParams: async ({ params }) => ({
    ...params,
    prompt: params.prompt.map((message) =>
      message.role === "assistant"
        ? { ...message, content: message.content.map((part) => (part.type === "text" ? { ...part, text: omitThoughts(part.text) } : part)) }
        : message,
    ),
  }),
};
