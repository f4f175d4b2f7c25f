import type { ListedTask, TaskState } from "bridge-client";
import { formatCost, formatDuration, formatRelative } from "./format.ts";
import type { Output } from "./output.ts";
import type { Column } from "./table.ts";
import type { Style } from "./text.ts";

/** The color of a state of a task. */
const stateStyles: Readonly<Record<TaskState, Style>> = {
  queued: "dim",
  running: "cyan",
  completed: "green",
  failed: "red",
  cancelled: "yellow",
};

/** Returns the columns of a list of tasks. A pipe gets more of them than a terminal. */
export function taskColumns({ format }: Pick<Output, "format">): Column<ListedTask>[] {
  const both: Column<ListedTask>[] = [
    { title: "id", value: ({ taskId }) => taskId },
    { title: "state", value: ({ state }) => state, shown: describeState, style: ({ state }) => stateStyles[state] },
    { title: "agent", value: ({ agentId }) => agentId, isFlexible: true, isOptional: true },
    { title: "provider", value: ({ provider }) => provider, isOptional: true },
    { title: "created", value: ({ createdAt }) => createdAt, shown: ({ createdAt }) => formatRelative(createdAt) },
    { title: "took", value: durationMs, shown: (task) => formatOptional(durationMs(task)), align: "right", isOptional: true },
    {
      title: "cost",
      value: ({ costUsd }) => costUsd,
      shown: ({ costUsd }) => formatCost(costUsd),
      align: "right",
      isOptional: true,
    },
  ];
  const title: Column<ListedTask> = { title: "title", value: (task) => task.title, isFlexible: true };
  const error: Column<ListedTask> = { title: "error", value: ({ errorCode }) => errorCode };
  return format === "terminal" ? [...both, title] : [...both, error, title];
}

/** Returns the run time of an ended task in milliseconds. */
export function durationMs({ startedAt, finishedAt }: Pick<ListedTask, "startedAt" | "finishedAt">): number | null {
  return startedAt === null || finishedAt === null ? null : Date.parse(finishedAt) - Date.parse(startedAt);
}

/** Describes the state of a task, with what it waits for or why it failed. */
export function describeState({ state, waitingOn, errorCode }: Pick<ListedTask, "state" | "waitingOn" | "errorCode">): string {
  if (state === "running" && waitingOn === "approval") return "running (approval)";
  if (state === "queued" && (waitingOn === "quota" || waitingOn === "budget" || waitingOn === "cooldown")) return `queued (${waitingOn})`;
  return state === "failed" && errorCode !== null ? `failed (${errorCode})` : state;
}

const formatOptional = (ms: number | null): string => (ms === null ? "-" : formatDuration(ms));
