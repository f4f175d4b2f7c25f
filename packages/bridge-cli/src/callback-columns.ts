import type { Callback, CallbackState } from "bridge-client";
import { formatRelative } from "./format.ts";
import type { Column } from "./table.ts";
import type { Style } from "./text.ts";

const styles: Readonly<Record<CallbackState, Style>> = { pending: "cyan", delivered: "green", dead: "red" };

/** The columns of a list of callbacks. */
export const callbackColumns: readonly Column<Callback>[] = [
  { title: "task", value: ({ taskId }) => taskId },
  { title: "state", value: ({ state }) => state, style: ({ state }) => styles[state] },
  { title: "attempts", value: ({ attempts }) => attempts, align: "right", isOptional: true },
  {
    title: "next",
    value: ({ nextAttemptAt }) => nextAttemptAt,
    shown: ({ nextAttemptAt }) => formatRelative(nextAttemptAt),
    isOptional: true,
  },
  { title: "status", value: ({ lastStatus }) => lastStatus, align: "right", isOptional: true },
  { title: "updated", value: ({ updatedAt }) => updatedAt, shown: ({ updatedAt }) => formatRelative(updatedAt), isOptional: true },
  { title: "url", value: ({ url }) => url, isFlexible: true },
  { title: "error", value: ({ lastError }) => lastError, isFlexible: true },
];
