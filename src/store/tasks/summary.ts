import type { ExecutionResult } from "#contract";
import type { TaskSummary } from "../../task.ts";
import { toColumnText } from "../column-text.ts";
import type { NewTask } from "./interface.ts";

/** Maximum characters of a title. */
const MAX_TITLE = 120;
/** UTF-16 units of a message in which its first line is searched. */
const SEARCHED_UNITS = 4 * MAX_TITLE;

/** The columns of `toTaskSummary`. */
export const summaryColumns = "title, model, cost_usd, usage, error_code";

/** The columns of the table of labels. */
export const labelColumns = ["task", "tenant", "name", "value"] as const;

/** The rows of the labels of a new task. */
export const toLabelRows = ({ tenant, request: { labels = {} } }: Pick<NewTask, "tenant" | "request">, task: number) =>
  Object.entries(labels).map(([name, value]) => ({ task, tenant, name, value }));

/** Returns the title of a task: the first line of its message that is not blank, shortened; null if there is none. */
export function titleOf(message: string): string | null {
  const [line = ""] = /\S[^\r\n]*/.exec(message.slice(0, SEARCHED_UNITS)) ?? [];
  const title = line.trimEnd();
  // No text has more characters than UTF-16 units.
  if (title.length <= MAX_TITLE) return title === "" ? null : title;
  return countUnits(title, MAX_TITLE) >= title.length ? title : `${title.slice(0, countUnits(title, MAX_TITLE - 1))}…`;
}

/** Counts the UTF-16 units of the first characters. Splitting the text takes four times as long. */
function countUnits(text: string, characters: number): number {
  let units = 0;
  for (let count = 0; count < characters && units < text.length; count += 1) units += (text.codePointAt(units) as number) > 0xffff ? 2 : 1;
  return units;
}

/** The columns of the summary of a new task. */
export function toNewSummary({ request: { message, bridgeInput, model, callbackUrl } }: Pick<NewTask, "request">) {
  const toText = (text: string | null | undefined): string | null => (typeof text === "string" ? toColumnText(text) : null);
  return {
    title: toText(titleOf(message) ?? titleOf(describeInput(bridgeInput))),
    model: toText(model),
    callback_url: toText(callbackUrl),
  };
}

/** Returns what the input of a council asks for. */
const describeInput = (bridgeInput: Readonly<Record<string, unknown>> | undefined): string => {
  const description = bridgeInput?.["task_description"];
  return typeof description === "string" ? description : "";
};

/** The columns of the summary that the end of a task sets. A null `model` keeps the requested model. */
export const toEndedSummary = ({ model, costUsd, usage, errorCode }: ExecutionResult) => ({
  model: model === undefined ? null : toColumnText(model),
  cost_usd: costUsd ?? null,
  usage: usage === undefined ? null : JSON.stringify(usage),
  error_code: errorCode ?? null,
});

/** The summary in a row, with the labels in its column `labels`, if there is one. */
export const toTaskSummary = (
  row: Readonly<Record<string, unknown>>,
  labels = JSON.parse(String(row["labels"] ?? "{}")) as TaskSummary["labels"],
): TaskSummary => ({
  labels,
  title: (row["title"] ?? null) as string | null,
  model: (row["model"] ?? null) as string | null,
  costUsd: (row["cost_usd"] ?? null) as number | null,
  usage: typeof row["usage"] === "string" ? (JSON.parse(row["usage"]) as TaskSummary["usage"]) : null,
  errorCode: (row["error_code"] ?? null) as TaskSummary["errorCode"],
});
