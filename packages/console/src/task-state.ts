import type { ListedTask } from "bridge-client";

/** What a task does, in more detail than its state: a task that waits for a person must not look like one that works. */
export type Activity = "queued" | "running" | "approval" | "silent" | "completed" | "failed" | "cancelled";

/** An activity for people. The sign makes it readable without color. */
export const activities: Readonly<Record<Activity, { label: string; sign: string }>> = {
  queued: { label: "queued", sign: "◌" },
  running: { label: "running", sign: "▶" },
  approval: { label: "needs approval", sign: "!" },
  silent: { label: "silent", sign: "…" },
  completed: { label: "completed", sign: "✓" },
  failed: { label: "failed", sign: "✕" },
  cancelled: { label: "canceled", sign: "⊘" },
};

/** A running task without an event for this long is silent. Bridge reports the same as `waitingOn: "runtime"`. */
const SILENCE_MS = 30_000;

/** Returns what a task does at a time. */
export function findActivity(task: Pick<ListedTask, "state" | "waitingOn" | "startedAt" | "lastProgressAt">, now: number): Activity {
  if (task.state !== "running") return task.state;
  if (task.waitingOn === "approval") return "approval";
  const lastSign = Math.max(toMs(task.startedAt), toMs(task.lastProgressAt));
  return task.waitingOn === "runtime" || (lastSign > 0 && now - lastSign > SILENCE_MS) ? "silent" : "running";
}

const queueReasons: Readonly<Record<string, string>> = {
  slot: "waits for a free slot of the adapter",
  session: "waits for the end of the task that uses its resume token",
  quota: "waits, because the tenant or the agent has its maximum of running tasks",
  budget: "waits, because a budget has no room for it",
  node: "waits for a running node that has the adapter, or for the node of the agent",
  tag: "waits for a running node with the tags of the request",
  cooldown: "waits until the vendor of its model accepts calls again",
};

/** Explains why a task is queued; empty if it is not. */
export function explainQueue({ queuedBecause, waitingForBudgets = [] }: Pick<ListedTask, "queuedBecause" | "waitingForBudgets">): string {
  if (queuedBecause === null) return "";
  const names = waitingForBudgets.length === 0 ? "" : `: ${waitingForBudgets.join(", ")}`;
  return `${queueReasons[queuedBecause] ?? `waits: ${queuedBecause}`}${names}`;
}

/** Names the error of a failed task, after a separator; empty if it has not failed. */
export const explainEnd = ({ state, errorCode }: Pick<ListedTask, "state" | "errorCode">): string =>
  state === "failed" && errorCode !== null ? ` · ${errorCode}` : "";

/** Returns whether a task has ended. */
export const hasEnded = ({ state }: Pick<ListedTask, "state">): boolean => state !== "queued" && state !== "running";

/** Returns whether a tool call has waited for its whole time, so that no person can decide about it anymore. */
export const hasExpired = ({ expiresAt }: { expiresAt: string | null }, now: number): boolean =>
  expiresAt !== null && Date.parse(expiresAt) <= now;

const toMs = (iso: string | null): number => (iso === null ? 0 : Date.parse(iso));
