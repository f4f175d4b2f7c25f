import { styleText } from "node:util";
import { pickFields } from "./pick-fields.ts";
import { createScreen, type Screen } from "./screen.ts";
import { createStatusLine, type StatusLine } from "./status-line.ts";

/** The styles that the output uses. */
export type Style = "bold" | "dim" | "red" | "green" | "yellow" | "cyan";

/** How a command prints: data to stdout, progress and errors to stderr. */
export interface Output {
  /** `terminal` is for people, `pipe` for programs such as `cut`, and `json` only on request. */
  format: "terminal" | "pipe" | "json";
  /** Width of the terminal in characters; Infinity in a pipe. */
  columns: number;
  /** Whether a person can be asked on this terminal. */
  isInteractive: boolean;
  status: StatusLine;
  screen: Screen;
  /** Prints a line of data. */
  print(line: string): void;
  /** Prints data as JSON, with the requested fields only. */
  printJson(value: unknown, layout?: "document" | "line"): void;
  /** Prints a line of progress, unless `--quiet` is set. */
  note(line: string): void;
  /** Prints a line to stderr. */
  warn(line: string): void;
  /** Adds colors for stdout. */
  paint(style: Style, text: string): string;
  /** Adds colors for stderr. */
  paintNote(style: Style, text: string): string;
}

/** The flags that change the output. */
export interface OutputFlags {
  quiet?: boolean | undefined;
  /** An empty text selects all fields. */
  json?: string | undefined;
  color?: boolean | undefined;
}

/** Terminals without a known width, for example in CI. */
const DEFAULT_COLUMNS = 80;

/** Creates the output of one command. */
export function createOutput(
  { stdin, stdout, stderr, env }: Pick<NodeJS.Process, "stdin" | "stdout" | "stderr" | "env">,
  { quiet = false, json, color = true }: OutputFlags,
): Output {
  const hasColor = color && (env["NO_COLOR"] ?? "") === "" && env["TERM"] !== "dumb";
  const fields = json === undefined || json === "" ? null : json.split(",").map((name) => name.trim());
  const status = createStatusLine(stderr, stderr.isTTY && !quiet);
  const painter =
    (stream: NodeJS.WriteStream) =>
    (style: Style, text: string): string =>
      hasColor && stream.isTTY ? styleText(style, text, { validateStream: false }) : text;
  const writeAbove = (stream: NodeJS.WriteStream, line: string): void => status.writeAbove(() => void stream.write(`${line}\n`));
  return {
    format: json !== undefined ? "json" : stdout.isTTY ? "terminal" : "pipe",
    columns: stdout.isTTY ? stdout.columns || DEFAULT_COLUMNS : Number.POSITIVE_INFINITY,
    isInteractive: stdin.isTTY && stderr.isTTY && json === undefined,
    status,
    screen: createScreen(stdout),
    print: (line) => writeAbove(stdout, line),
    printJson(value, layout = "document") {
      const picked = fields === null ? value : pickFields(value, fields);
      writeAbove(stdout, JSON.stringify(picked, null, layout === "document" ? 2 : undefined));
    },
    note(line) {
      if (!quiet) writeAbove(stderr, line);
    },
    warn: (line) => writeAbove(stderr, line),
    paint: painter(stdout),
    paintNote: painter(stderr),
  };
}
