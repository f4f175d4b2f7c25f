import { once } from "node:events";
import { pickFields } from "./pick-fields.ts";
import { createScreen, type Screen } from "./screen.ts";
import { escapeHidden, showHidden } from "./show-hidden.ts";
import { createStatusLine, type StatusLine } from "./status-line.ts";
import { renderText, type Text, type TextRendering } from "./text.ts";

/**
 * How a command prints: data to stdout, progress and errors to stderr. Agents write much of it, so hidden characters are made visible here,
 * on every terminal and always on stderr. Data in a pipe is unchanged.
 */
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
  print(line: Text): void;
  /** Prints data as JSON, with the requested fields only. */
  printJson(value: unknown, layout?: "document" | "line"): void;
  /** Writes the exact bytes of a file, and on a terminal its text. */
  writeFile(chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>): Promise<void>;
  /** Prints a line of progress, unless `--quiet` is set. */
  note(line: Text): void;
  /** Prints a line to stderr. */
  warn(line: Text): void;
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
  const allowsColors = color && (env["NO_COLOR"] ?? "") === "" && env["TERM"] !== "dumb";
  const fields = json === undefined || json === "" ? null : json.split(",").map((name) => name.trim());
  const status = createStatusLine(stderr, stderr.isTTY && !quiet);
  const forData: TextRendering = { hasColors: allowsColors && stdout.isTTY, showsHidden: stdout.isTTY };
  // The log of a job is also read on a terminal.
  const forPeople: TextRendering = { hasColors: allowsColors && stderr.isTTY, showsHidden: true };
  const writeLine = (stream: NodeJS.WriteStream, line: string): void => status.writeAbove(() => void stream.write(`${line}\n`));
  const warn = (line: Text): void => writeLine(stderr, renderText(line, forPeople));
  return {
    format: json !== undefined ? "json" : stdout.isTTY ? "terminal" : "pipe",
    columns: stdout.isTTY ? stdout.columns || DEFAULT_COLUMNS : Number.POSITIVE_INFINITY,
    isInteractive: stdin.isTTY && stderr.isTTY && json === undefined,
    status,
    screen: createScreen(stdout, (line) => renderText(line, forData)),
    print: (line) => writeLine(stdout, renderText(line, forData)),
    printJson(value, layout = "document") {
      const picked = fields === null ? value : pickFields(value, fields);
      const text = JSON.stringify(picked, null, layout === "document" ? 2 : undefined);
      writeLine(stdout, stdout.isTTY ? escapeHidden(text) : text);
    },
    async writeFile(chunks) {
      const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
      const write = async (bytes: string | Uint8Array): Promise<void> => {
        if (!stdout.write(bytes)) await once(stdout, "drain");
      };
      for await (const chunk of chunks) await write(stdout.isTTY ? showHidden(decoder.decode(chunk, { stream: true })) : chunk);
      if (stdout.isTTY) await write(showHidden(decoder.decode()));
    },
    note(line) {
      if (!quiet) warn(line);
    },
    warn,
  };
}
