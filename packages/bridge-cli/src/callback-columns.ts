import type { Callback, CallbackState } from "bridge-client";
import { formatRelative } from "./format.ts";
import type { Column } from "./table.ts";
import type { Style } from "./text.ts";

const styles: Readonly<Record<CallbackState, Style>> = { pending: "cyan", delivered: "green", dead: "red" };

/** The columns of a list of callbacks. */
export const callbackColumns: readonly Column<Callback>[] = [
  { title: "task", value: ({ taskId }) => taskId, isFlexible: true },
  { title: "state", value: ({ state }) => state, style: ({ state }) => styles[state] },
  { title: "attempts", value: ({ attempts }) => attempts, align: "right" },
  { title: "next", value: ({ nextAttemptAt }) => nextAttemptAt, shown: ({ nextAttemptAt }) => formatRelative(nextAttemptAt) },
  { title: "status", value: ({ lastStatus }) => lastStatus, align: "right" },
  { title: "updated", value: ({ updatedAt }) => updatedAt, shown: ({ updatedAt }) => formatRelative(updatedAt) },
  { title: "url", value: ({ url }) => url, isFlexible: true },
  { title: "error", value: ({ lastError }) => lastError, isFlexible: true },
];
