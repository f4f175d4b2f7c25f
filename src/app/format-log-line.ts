import { styleText } from "node:util";
import { escapeHidden } from "./escape-hidden.ts";

type Style = Parameters<typeof styleText>[0];

/** Names and styles of the levels, by pino's numbers. */
const levels: Readonly<Record<number, readonly [name: string, style: Style]>> = {
  10: ["TRACE", "dim"],
  20: ["DEBUG", "dim"],
  30: ["INFO ", "green"],
  40: ["WARN ", "yellow"],
  50: ["ERROR", "red"],
  60: ["FATAL", ["bold", "red"]],
};

/** Text that needs no quotes after `name=`. */
const PLAIN = /^[^\s"'=]+$/u;

/**
 * Formats one line of the log for a person: the local time, the level, the message, the fields that have a value, and below them the
 * stack of an error.
 */
export function formatLogLine(line: string, { hasColors }: { hasColors: boolean }): string {
  const { level, time, msg, err, ...fields } = JSON.parse(line) as Record<string, unknown>;
  const [name, style] = levels[Number(level)] ?? [String(level), "dim"];
  const show = (text: string, as: Style): string => (hasColors ? styleText(as, toSafe(text), { validateStream: false }) : toSafe(text));
  const parts = [show(formatTime(String(time)), "dim"), show(name, style)];
  if (msg !== undefined) parts.push(show(String(msg), "bold"));
  for (const [key, value] of Object.entries(fields)) {
    if (value !== null) parts.push(`${show(`${key}=`, "dim")}${toSafe(formatValue(value))}`);
  }
  if (err !== undefined) parts.push(toSafe(`\n${describeError(err)}`));
  return `${parts.join(" ")}\n`;
}

/** Escapes what a terminal would execute, and indents further lines, so that a text cannot look like another line of the log. */
const toSafe = (text: string): string => escapeHidden(text).replaceAll("\n", "\n    ");

/** The local time of day, because a terminal shows what happens now. */
function formatTime(time: string): string {
  const date = new Date(time);
  const pad = (value: number, width = 2): string => String(value).padStart(width, "0");
  return `${pad(date.getHours())}:${pad(date.getMinutes())}:${pad(date.getSeconds())}.${pad(date.getMilliseconds(), 3)}`;
}

const formatValue = (value: unknown): string => (typeof value === "string" && PLAIN.test(value) ? value : JSON.stringify(value));

/** Returns the stack of an error, which begins with its message, and its further fields. */
function describeError(error: unknown): string {
  if (typeof error !== "object" || error === null) return formatValue(error);
  const { type, message, stack, ...fields } = error as Record<string, unknown>;
  const lines = [typeof stack === "string" ? stack : `${type}: ${message}`];
  for (const [key, value] of Object.entries(fields)) lines.push(`${key}=${formatValue(value)}`);
  return lines.join("\n");
}
