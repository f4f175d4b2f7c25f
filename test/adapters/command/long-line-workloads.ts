import { readLine } from "../../../adapters/command/events.ts";

/** The number of names in each line. */
export const NAMES = 49_900;

const members = Array.from({ length: NAMES }, (_, index) => `"${`${(index * 7919) % 49_999}`.padStart(7, "k")}":1`).join(",");

/** Lines of a program with many names. */
export const longLines = {
  "execution.progress": `{"type":"execution.progress",${members}}`,
  result: `{"type":"result",${members}}`,
  "tool.completed": `{"type":"tool.completed","toolCallId":"1","toolName":"t","isError":false,"output":{${members}}}`,
} as const;

/** Reads each line, for `countBlocks`. */
export const workloads: Readonly<Record<string, () => void>> = Object.fromEntries(
  Object.entries(longLines).map(([type, line]) => [type, () => void readLine(line)]),
);
