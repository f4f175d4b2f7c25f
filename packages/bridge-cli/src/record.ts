import type { Output } from "./output.ts";
import { toOneLine } from "./show-hidden.ts";
import { paint } from "./text.ts";

/** A named value of a record; `shown` is what people read instead. A value of null is omitted on a terminal. */
export interface Field {
  name: string;
  value: string | number | null | undefined;
  shown?: string;
}

/** Prints one object: JSON on request, and otherwise one line for each field, in a pipe separated by a tab. */
export function printRecord(output: Output, record: object, fields: readonly Field[]): void {
  if (output.format === "json") output.printJson(record);
  else if (output.format === "pipe") for (const { name, value } of fields) output.print(`${name}\t${toOneLine(String(value ?? ""))}`);
  else printAligned(output, fields);
}

function printAligned(output: Output, fields: readonly Field[]): void {
  const present = fields.filter(({ value }) => value !== null && value !== undefined && value !== "");
  const width = Math.max(...present.map(({ name }) => name.length));
  for (const { name, value, shown } of present) output.print([paint("dim", name.padEnd(width)), `  ${toOneLine(shown ?? String(value))}`]);
}
