import { styleText } from "node:util";
import { showHidden } from "./show-hidden.ts";

/** The styles that the output uses. */
export type Style = "bold" | "dim" | "red" | "green" | "yellow" | "cyan";

/** A part of a text with a color. */
export interface Painted {
  style: Style;
  text: string;
}

/** Text for people. Only painted parts have colors: a control sequence in a text is never passed to a terminal. */
export type Text = string | Painted | readonly Text[];

/** Adds a color to a text, if the stream that it is written to shows colors. */
export const paint = (style: Style | null, text: string): Text => (style === null ? text : { style, text });

/** How a stream shows texts. */
export interface TextRendering {
  hasColors: boolean;
  /** Whether hidden characters are made visible. False only for data that programs read. */
  showsHidden: boolean;
}

/** Returns the characters to write for a text. */
export function renderText(text: Text, rendering: TextRendering): string {
  if (typeof text === "string") return rendering.showsHidden ? showHidden(text) : text;
  if (!("style" in text)) return text.map((part) => renderText(part, rendering)).join("");
  const plain = renderText(text.text, rendering);
  return rendering.hasColors ? styleText(text.style, plain, { validateStream: false }) : plain;
}
