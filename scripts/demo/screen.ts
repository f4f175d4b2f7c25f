import { styleText } from "node:util";

/** The output of the demo: short lines, so that all of it fits on one screen. */
export interface Screen {
  heading(text: string): void;
  /** Prints a line, cut to the width of the screen. */
  line(text: string): void;
  /** Prints text of any length, wrapped after commas or spaces. */
  text(text: string): void;
  /** Prints commands to copy, neither cut nor wrapped. */
  commands(commands: readonly string[]): void;
}

const WIDTH = 100;

/** Uses colors only on a terminal that supports them: `styleText` checks the stream and NO_COLOR. */
export function createScreen(stream: NodeJS.WriteStream): Screen {
  const write = (lines: readonly string[]): void => void stream.write(lines.map((line) => `${line}\n`).join(""));
  return {
    heading: (text) => write(["", styleText("bold", cut(text), { stream })]),
    line: (text) => write([cut(text)]),
    text: (text) => write(breakLines(text)),
    commands: (commands) => write(commands.map((command) => styleText("cyan", command, { stream }))),
  };
}

const cut = (text: string): string => (text.length <= WIDTH ? text : `${text.slice(0, WIDTH - 1)}…`);

/** Wraps after commas, or else after spaces, with a deeper indent. */
function breakLines(text: string): string[] {
  const indent = /^ */.exec(text)?.[0] ?? "";
  const find = (separator: string): number => text.slice(indent.length, WIDTH).lastIndexOf(separator) + indent.length + 1;
  const end = [find(","), find(" ")].find((index) => index > indent.length + 1);
  if (text.length <= WIDTH || end === undefined) return [text];
  return [text.slice(0, end).trimEnd(), ...breakLines(`${indent}  ${text.slice(end).trimStart()}`)];
}
