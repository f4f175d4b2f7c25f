import type { LanguageModelMiddleware } from "ai";
import type { Step } from "../agent-program/run-program.ts";

const OPENING = "<think>";
const CLOSING = "</think>";
/** Blanks before a text that are kept until it is known whether it begins with thoughts. */
const MAX_BLANKS = 1_000;
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
  /** The parts of the text so far, until it is known whether it contains thoughts. They are joined once, because text can be long. */
  let parts: string[] = [];
  /** The end of the previous text, because a tag can be split. */
  let tail = "";
  let isChecked = false;
  const emit = (chunk: string): Step[] => (chunk === "" ? [] : [{ kind: "text", text: chunk }]);
  const takeText = (): string => {
    const text = parts.join("");
    parts = [];
    return text;
  };
  /** Emits text without the blanks between thoughts and answer. */
  const emitAnswer = (chunk: string): Step[] => {
    const answer = chunk.trimStart();
    state = answer === "" ? "blanks" : "text";
    isChecked = true;
    return emit(answer);
  };

  /** Reads the beginning of the text, which shows whether it begins with thoughts. */
  function readBeginning(): Step[] {
    const text = takeText();
    parts = [text];
    const start = text.trimStart();
    if (start.length < OPENING.length && OPENING.startsWith(start) && text.length < MAX_BLANKS) return [];
    state = start.startsWith(OPENING) ? "thoughts" : "text";
    tail = "";
    return readMore(text, text);
  }

  /** `unsent` is the part of the text that was not emitted. */
  function readMore(delta: string, unsent: string): Step[] {
    const searched = tail + delta;
    tail = searched.slice(-CLOSING.length);
    const isFound = searched.includes(CLOSING);
    if (state === "thoughts") {
      parts = [];
      return isFound ? emitAnswer(searched.slice(searched.indexOf(CLOSING) + CLOSING.length)) : [];
    }
    if (!isFound) return emit(unsent);
    isChecked = true;
    const text = takeText();
    const answer = omitThoughts(text);
    if (answer === text) return emit(unsent);
    return unsent === text ? emitAnswer(answer) : [{ kind: "discarded", reason: DISCARDED }, ...emitAnswer(answer)];
  }

  return {
    /** Reads the next text. */
    read(delta: string): Step[] {
      if (state === "blanks") return emitAnswer(delta);
      if (isChecked) return emit(delta);
      parts.push(delta);
      return state === "beginning" ? readBeginning() : readMore(delta, delta);
    },
    /** Whether a `<think>` tag is open. */
    isOpen: (): boolean => state === "thoughts",
    /** Returns the text that waited for more. */
    finish: (): Step[] => (state === "beginning" ? emit(takeText()) : []),
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
