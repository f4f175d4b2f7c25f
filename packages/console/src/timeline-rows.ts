import type { ListedTask } from "bridge-client";
import { readRole } from "./council.ts";
import { firstLine, formatCost, formatCount, formatValue } from "./format.ts";
import type { Entry, ProgressEntry, Turn } from "./timeline.ts";

/** A child task in the timeline of its parent. */
export interface ChildEntry {
  kind: "child";
  task: ListedTask;
}

/** Consecutive progress of a council. */
export interface ProgressGroup {
  kind: "group";
  entries: ProgressEntry[];
}

/** A line of the timeline of a task. */
export interface TimelineRow {
  /** The turn in which it happened; null before the first one. */
  turn: Turn | null;
  entry: Entry | ChildEntry | ProgressGroup;
}

/** The lines that each filter keeps. */
export const rowFilters = {
  all: () => true,
  errors: (entry) => (entry.kind === "tool" && entry.isError) || (entry.kind === "child" && entry.task.state === "failed"),
  tools: (entry) => entry.kind === "tool",
  text: (entry) => entry.kind === "text",
} as const satisfies Record<string, (entry: TimelineRow["entry"]) => boolean>;
export type RowFilter = keyof typeof rowFilters;

/**
 * Lists what happened in a task, oldest first: the entries of its turns, and its child tasks when they started. Consecutive progress of a
 * council becomes one line.
 */
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
      const last = rows.at(-1);
      if (entry.kind !== "progress" || !isCouncil(entry.data)) rows.push({ turn, entry });
      else if (last?.turn === turn && last.entry.kind === "group") last.entry.entries.push(entry);
      else rows.push({ turn, entry: { kind: "group", entries: [entry] } });
    }
  }
  addChildren(Number.POSITIVE_INFINITY);
  return rows;
}

/** Returns when an entry began, in milliseconds since 1970. */
export function startOf(entry: TimelineRow["entry"]): number {
  if (entry.kind === "child") return Date.parse(entry.task.startedAt ?? entry.task.createdAt);
  if (entry.kind === "group") return Date.parse((entry.entries[0] as ProgressEntry).at);
  return Date.parse(entry.kind === "tool" ? entry.invokedAt : entry.at);
}

/** Returns how long a tool call or a child task took, in milliseconds, or takes until now in a task that runs; null for other entries. */
function durationOf(entry: TimelineRow["entry"], now: number | null): number | null {
  if (entry.kind !== "tool" && entry.kind !== "child") return null;
  if (entry.kind === "child" && entry.task.startedAt === null) return null;
  const end = entry.kind === "tool" ? entry.completedAt : entry.task.finishedAt;
  if (end === null) return now === null ? 0 : now - startOf(entry);
  return Date.parse(end) - startOf(entry);
}

/** The longest tool calls and child tasks first. After the end of the task, `now` is null, and calls without a result are last. */
export function sortByDuration(rows: readonly TimelineRow[], now: number | null): TimelineRow[] {
  return rows
    .flatMap((row) => {
      const duration = durationOf(row.entry, now);
      return duration === null ? [] : [{ row, duration }];
    })
    .toSorted((one, other) => other.duration - one.duration)
    .map(({ row }) => row);
}

/** Returns whether a line shows an entry. */
export const showsEntry = ({ entry }: TimelineRow, shown: Entry): boolean =>
  entry === shown || (entry.kind === "group" && entry.entries.includes(shown as ProgressEntry));

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

const TICK_STEPS_S = [0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14_400, 28_800];
const MAX_TICKS = 6;

/** Returns the times that an axis is labeled with, in milliseconds since its start: round numbers, and at most six of them. */
export function axisTicks(lengthMs: number): number[] {
  const step = (TICK_STEPS_S.find((seconds) => lengthMs / (1000 * seconds) < MAX_TICKS) ?? 86_400) * 1000;
  return Array.from({ length: Math.min(MAX_TICKS, Math.ceil(lengthMs / step)) }, (_, index) => index * step);
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
  const council = isCouncil(data) ? describeCouncil(data) : null;
  if (council !== null) return firstLine(council, 300);
  const { done, of, ...others } = data;
  const named = Object.entries(others).map(([name, value]) => `${name} ${toPlain(value) ?? JSON.stringify(value)}`);
  const [only] = Object.keys(others).length === 1 ? Object.values(others).map(toPlain) : [];
  const counted = typeof done === "number" && typeof of === "number" ? [`${done} of ${of}`] : [];
  return firstLine([...(only == null ? named : [only]), ...counted].join(", "), 300);
}

/** Returns whether a council reports this progress. */
const isCouncil = ({ phase, round }: Record<string, unknown>): boolean => typeof phase === "string" && typeof round === "number";

/** Describes the progress of a council, such as `Round 1, analysis: 4 of 4 answered, 2 findings`. */
export function describeGroup({ entries }: ProgressGroup): string {
  const phases = new Map<string, string>();
  for (const { data } of entries)
    if (data["phase"] !== "finding") {
      const count = typeof data["done"] === "number" && typeof data["of"] === "number" ? `${data["done"]} of ${data["of"]}` : "a role";
      phases.set(`Round ${data["round"]}, ${data["phase"]}`, `${count} answered`);
    }
  const findings = entries.filter(({ data }) => data["phase"] === "finding").length;
  const counted = findings === 0 ? [] : [`${findings} finding${findings === 1 ? "" : "s"}`];
  return firstLine([...[...phases].map(([name, count]) => `${name}: ${count}`), ...counted].join(", "), 300);
}

/** Describes one progress of a council; null if it has an unknown form. */
function describeCouncil({ phase, round, role, domain, id, severity, title, done, of }: Record<string, unknown>): string | null {
  if (phase === "finding")
    return `${toPlain(role) ?? toPlain(domain) ?? "Council"}: finding ${toPlain(id) ?? ""} ${toPlain(severity) ?? ""}: ${toPlain(title) ?? ""}`;
  if (typeof role !== "string") return null;
  const count = typeof done === "number" && typeof of === "number" ? `, ${done} of ${of}` : "";
  return `Round ${round}, ${phase}: ${role} answered${count}`;
}

/** Names a child task: by its role in a council, or by its title. */
export function nameChild(task: ListedTask): { name: string; detail: string } {
  const role = readRole(task);
  const spent = describeSpending(task);
  if (role === null) return { name: task.title ?? task.taskId, detail: [task.agentId, task.provider, ...spent].join(" · ") };
  const domain = role.domain === "" || role.domain === role.role ? [] : [role.domain];
  return { name: role.role, detail: [task.provider, ...domain, `round ${role.round}`, ...spent].join(" · ") };
}

/** The cost and the tokens of a task, as far as they are known. */
function describeSpending({ costUsd, usage }: ListedTask): string[] {
  const tokens = (usage?.inputTokens ?? 0) + (usage?.outputTokens ?? 0);
  return [...(costUsd == null ? [] : [formatCost(costUsd)]), ...(tokens === 0 ? [] : [`${formatCount(tokens)} tokens`])];
}
