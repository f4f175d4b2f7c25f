import { cutToWidth, measureWidth } from "./display-width.ts";
import type { Output } from "./output.ts";
import { toOneLine } from "./show-hidden.ts";
import { paint, type Style, type Text } from "./text.ts";

/** A column of a list. */
export interface Column<Row> {
  title: string;
  /** The exact value, for pipes. */
  value: (row: Row) => string | number | null | undefined;
  /** What people read instead, on a terminal. Default: the exact value. */
  shown?: (row: Row) => string;
  style?: (row: Row) => Style | null;
  align?: "right";
  /** Whether this column is cut if the table is wider than the terminal. */
  isFlexible?: true;
  /** Whether this column is left out if the table is still too wide then; the last one first. */
  isOptional?: true;
  /** Whether this last column continues on further lines instead of being cut. */
  wraps?: true;
}

/** Prints a list: JSON on request, aligned columns on a terminal, and tab-separated exact values in a pipe. */
export function printTable<Row>(output: Output, rows: readonly Row[], columns: readonly Column<Row>[]): void {
  if (output.format === "json") output.printJson(rows);
  else if (output.format === "pipe")
    for (const row of rows) output.print(columns.map((column) => toOneLine(String(column.value(row) ?? ""))).join("\t"));
  else if (rows.length === 0) output.note("None.");
  else printAligned(output, rows, columns);
}

function printAligned<Row>(output: Output, rows: readonly Row[], allColumns: readonly Column<Row>[]): void {
  const columns = selectColumns(rows, allColumns, output.columns);
  const cells = rows.map((row) => columns.map((column) => toOneLine(column.shown?.(row) ?? String(column.value(row) ?? "-"))));
  const widths = fitWidths(
    columns.map(({ title }, index) => Math.max(title.length, ...cells.map((line) => measureWidth(line[index] ?? "")))),
    columns,
    output.columns,
  );
  const layOut = (line: readonly string[], styleOf: (index: number) => Style | null): Text =>
    line.map((text, index) => {
      const cell = columns[index]?.wraps ? text : align(text, widths[index] ?? 0, columns[index]?.align);
      return index === line.length - 1 ? paint(styleOf(index), cell.trimEnd()) : [paint(styleOf(index), cell), GAP];
    });
  output.print(
    layOut(
      columns.map(({ title }) => title.toUpperCase()),
      () => "dim",
    ),
  );
  for (const [number, line] of cells.entries()) {
    const row = rows[number] as Row;
    for (const part of wrapLast(line, widths, columns)) output.print(layOut(part, (index) => columns[index]?.style?.(row) ?? null));
  }
}

/** Leaves out optional columns until the table fits with its flexible columns cut. */
function selectColumns<Row>(rows: readonly Row[], all: readonly Column<Row>[], available: number): readonly Column<Row>[] {
  const columns = [...all];
  const leastWidth = ({ title, isFlexible, wraps, value, shown }: Column<Row>): number => {
    const widest = Math.max(title.length, ...rows.map((row) => measureWidth(toOneLine(shown?.(row) ?? String(value(row) ?? "-")))));
    return isFlexible || wraps ? Math.min(widest, MIN_FLEXIBLE_WIDTH) : widest;
  };
  const widthOfAll = (): number => columns.reduce((sum, column) => sum + leastWidth(column), GAP.length * (columns.length - 1));
  while (widthOfAll() > available) {
    const index = columns.findLastIndex(({ isOptional }) => isOptional);
    if (index < 0) break;
    columns.splice(index, 1);
  }
  return columns;
}

/** Divides a line whose last column wraps into several lines. */
function wrapLast(line: readonly string[], widths: readonly number[], columns: readonly Column<never>[]): (readonly string[])[] {
  const last = line.length - 1;
  if (columns[last]?.wraps !== true) return [line];
  const empty = line.map(() => "");
  return wrapText(line[last] ?? "", widths[last] ?? 0).map((part, index) => (index === 0 ? line : empty).with(last, part));
}

/** Divides a text into lines of at most this width. A longer word is not divided, so that it can be copied. */
function wrapText(text: string, width: number): string[] {
  const lines = [""];
  for (const word of text.split(" ")) {
    const line = lines.at(-1) as string;
    if (line === "") lines[lines.length - 1] = word;
    else if (measureWidth(line) + 1 + measureWidth(word) <= width) lines[lines.length - 1] = `${line} ${word}`;
    else lines.push(word);
  }
  return lines;
}

const GAP = "  ";
/** A flexible column is never narrower, so a narrow terminal wraps the lines. */
const MIN_FLEXIBLE_WIDTH = 12;

/** Takes what is too wide from the flexible columns, from the widest one first. */
function fitWidths(widths: readonly number[], columns: readonly Column<never>[], available: number): number[] {
  const fitted = [...widths];
  let excess = fitted.reduce((sum, width) => sum + width, GAP.length * (fitted.length - 1)) - available;
  while (excess > 0) {
    const canShrink = ({ isFlexible, wraps }: Column<never>): boolean => (isFlexible ?? wraps) === true;
    const widest = columns.reduce(
      (best, column, index) => (canShrink(column) && (fitted[index] ?? 0) > (fitted[best] ?? 0) ? index : best),
      columns.findIndex(canShrink),
    );
    if (widest < 0 || (fitted[widest] ?? 0) <= MIN_FLEXIBLE_WIDTH) return fitted;
    fitted[widest] = (fitted[widest] ?? 0) - 1;
    excess -= 1;
  }
  return fitted;
}

function align(text: string, width: number, side: "right" | undefined): string {
  const cut = cutToWidth(text, width);
  const padding = " ".repeat(Math.max(width - measureWidth(cut), 0));
  return side === "right" ? padding + cut : cut + padding;
}
