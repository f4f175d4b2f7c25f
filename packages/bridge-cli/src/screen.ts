import type { Text } from "./text.ts";

/** A view that takes the whole terminal and is drawn again when it changes. */
export interface Screen {
  /** Replaces what the terminal shows. Lines that do not fit are omitted. */
  show(lines: readonly Text[]): void;
  /** Shows again what the terminal showed before. Has no effect if the screen was not used. */
  close(): void;
}

const DEFAULT_ROWS = 24;
const OPEN = "\u001b[?1049h";
const CLOSE = "\u001b[?1049l";
const HOME = "\u001b[H";
const CLEAR_TO_END_OF_LINE = "\u001b[K";
const CLEAR_BELOW = "\u001b[J";

/** Creates the screen of a terminal. It uses the second buffer of the terminal, so that earlier lines are kept. */
export function createScreen(stream: NodeJS.WriteStream, render: (line: Text) => string): Screen {
  let isOpen = false;
  return {
    show(lines) {
      // The last row stays empty, because a terminal scrolls after it.
      const rows = lines.flatMap((line) => render(line).split("\n")).slice(0, (stream.rows || DEFAULT_ROWS) - 1);
      const shown = rows.map((row) => `${row}${CLEAR_TO_END_OF_LINE}\n`);
      stream.write(`${isOpen ? "" : OPEN}${HOME}${shown.join("")}${CLEAR_BELOW}`);
      isOpen = true;
    },
    close() {
      if (isOpen) stream.write(CLOSE);
      isOpen = false;
    },
  };
}
