import type { ListedTask } from "bridge-client";
import { readRole } from "./council.ts";
import { firstLine, formatValue } from "./format.ts";
import type { Entry, Turn } from "./timeline.ts";

/** A child task in the timeline of its parent. */
export interface ChildEntry {
  kind: "child";
  task: ListedTask;
}

/** A line of the timeline of a task. */
export interface TimelineRow {
  /** The turn in which it happened; null before the first one. */
  turn: Turn | null;
  entry: Entry | ChildEntry;
}

/** The lines that each filter keeps. */
export const rowFilters = {
  all: () => true,
  errors: (entry) => (entry.kind === "tool" && entry.isError) || (entry.kind === "child" && entry.task.state === "failed"),
  tools: (entry) => entry.kind === "tool",
  text: (entry) => entry.kind === "text",
} as const satisfies Record<string, (entry: TimelineRow["entry"]) => boolean>;
export type RowFilter = keyof typeof rowFilters;

/** Lists what happened in a task, oldest first: the entries of its turns, and its child tasks when they started. */
export function listRows(turns: readonly Turn[], children: readonly ListedTask[]): TimelineRow[] {
  const rows: TimelineRow[] = [];
  const waiting = children
    .map((task) => ({ task, at: Date.parse(task.startedAt ?? task.createdAt) }))
    .toSorted((one, other) => one.at - other.at);
  let turn: Turn | null = null;
  const addChildren = (until: number): void => {
    while (waiting[0] !== undefined && waiting[0].at < until) {
      rows.push({ turn, entry: { kind: "child", task: waiting[0].task } });
      waiting.shift();
    }
  };
  for (const next of turns) {
    for (const entry of next.entries) {
      if (waiting.length > 0) addChildren(startOf(entry));
      turn = next;
      rows.push({ turn, entry });
    }
  }
  addChildren(Number.POSITIVE_INFINITY);
  return rows;
}

/** Returns when an entry began, in milliseconds since 1970. */
export function startOf(entry: TimelineRow["entry"]): number {
  if (entry.kind === "child") return Date.parse(entry.task.startedAt ?? entry.task.createdAt);
  return Date.parse(entry.kind === "tool" ? entry.invokedAt : entry.at);
}

/** Returns whether an entry can still change. */
export function isOpen(entry: TimelineRow["entry"]): boolean {
  if (entry.kind === "child") return entry.task.finishedAt === null;
  return entry.kind === "tool" && (entry.completedAt === null || (entry.approval !== null && entry.approval.decision === null));
}

/** An axis of a running task grows in steps of a quarter, so that its bars are not drawn again every second. */
const AXIS_STEP = 1.25;
const MIN_AXIS_MS = 1000;

/** Returns the length of the time axis: the whole duration of an ended task, or more than what has passed. */
export function axisLength(elapsedMs: number, { isRunning }: { isRunning: boolean }): number {
  if (!isRunning) return Math.max(1, elapsedMs);
  const steps = Math.max(0, Math.ceil(Math.log(Math.max(1, elapsedMs / MIN_AXIS_MS)) / Math.log(AXIS_STEP)));
  return MIN_AXIS_MS * AXIS_STEP ** steps;
}

/** Names of the arguments that describe a call best. */
const MAIN_ARGUMENTS = ["command", "cmd"];
const COMMENTS = ["description", "reason", "thought"];

/** Returns the first argument of a tool call in one line, without the quotes of JSON. */
export function describeInput(input: unknown): string {
  if (typeof input !== "object" || input === null || Array.isArray(input)) return firstLine(toPlain(input) ?? formatValue(input));
  const names = Object.keys(input);
  const ordered = [...MAIN_ARGUMENTS, ...names.filter((name) => !COMMENTS.includes(name)), ...names];
  for (const name of ordered) {
    const text = Object.hasOwn(input, name) ? toPlain((input as Record<string, unknown>)[name]) : null;
    if (text !== null && text !== "") return firstLine(text);
  }
  return names.length === 0 ? "" : firstLine(formatValue(input));
}

/** Returns a text, a number or a list of them without quotes; null for anything else. */
function toPlain(value: unknown): string | null {
  if (typeof value === "string") return value;
  if (typeof value === "number" || typeof value === "boolean") return String(value);
  if (!Array.isArray(value)) return null;
  const parts = value.map(toPlain);
  return parts.includes(null) ? null : parts.join(" ");
}

/** Returns what a runtime reports in one line, without the quotes of JSON: `step compile, 2 of 4`. */
export function describeProgress(data: Record<string, unknown>): string {
  const council = describeCouncil(data);
  if (council !== null) return firstLine(council, 300);
  const { done, of, ...others } = data;
  const named = Object.entries(others).map(([name, value]) => `${name} ${toPlain(value) ?? JSON.stringify(value)}`);
  const [only] = Object.keys(others).length === 1 ? Object.values(others).map(toPlain) : [];
  const counted = typeof done === "number" && typeof of === "number" ? [`${done} of ${of}`] : [];
  return firstLine([...(only == null ? named : [only]), ...counted].join(", "), 300);
}

/** Describes the progress of a council; null if the task is none. */
function describeCouncil({ phase, round, role, domain, id, severity, title, done, of }: Record<string, unknown>): string | null {
  if (typeof phase !== "string" || typeof round !== "number") return null;
  if (phase === "finding")
    return `${toPlain(role) ?? toPlain(domain) ?? "Council"}: finding ${toPlain(id) ?? ""} ${toPlain(severity) ?? ""}: ${toPlain(title) ?? ""}`;
  if (typeof role !== "string") return null;
  const count = typeof done === "number" && typeof of === "number" ? `, ${done} of ${of}` : "";
  return `Round ${round}, ${phase}: ${role} answered${count}`;
}

/** Names a child task: by its role in a council, or by its title. */
export function nameChild(task: ListedTask): { name: string; detail: string } {
  const role = readRole(task);
  if (role === null) return { name: task.title ?? task.taskId, detail: `${task.agentId} · ${task.provider}` };
  const domain = role.domain === "" || role.domain === role.role ? [] : [role.domain];
  return { name: role.role, detail: [task.provider, ...domain, `round ${role.round}`].join(" · ") };
}
