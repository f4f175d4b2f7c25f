import type { StatsQuery, UsageGroup } from "bridge-client";
import { formatCost, formatCount, formatDuration } from "../format.ts";
import { type Column, printTable } from "../table.ts";
import type { Run } from "../verb.ts";

/** Prints what the tasks of each group have used, and the total. */
export const run: Run<StatsQuery> = async ({ options: { window, by, limit }, output, signal, connect }) => {
  const stats = await connect().client.getStats({ window, by, limit }, { signal });
  if (output.format === "json") {
    output.printJson(stats);
    return undefined;
  }
  const other = stats.other === null ? [] : [{ ...stats.other, key: "(other)" }];
  printTable(output, [...stats.data, ...other, { ...stats.total, key: "(total)" }], columnsFor(stats.by));
  const { tasksWithoutCost } = stats.total;
  if (output.format === "terminal" && tasksWithoutCost > 0) output.note(`The cost of ${tasksWithoutCost} task(s) is unknown.`);
  return undefined;
};

const columnsFor = (by: string): Column<UsageGroup>[] => [
  { title: by, value: ({ key }) => key ?? "(unknown)", isFlexible: true },
  count("tasks", ({ tasks }) => tasks),
  count("completed", ({ completed }) => completed),
  count("failed", ({ failed }) => failed),
  count("canceled", ({ cancelled }) => cancelled),
  { title: "time", value: ({ durationMs }) => durationMs, shown: ({ durationMs }) => formatDuration(durationMs), align: "right" },
  count("input", ({ inputTokens }) => inputTokens),
  count("output", ({ outputTokens }) => outputTokens),
  { title: "cost", value: ({ costUsd }) => costUsd, shown: ({ costUsd }) => formatCost(costUsd), align: "right" },
];

function count(title: string, value: (group: UsageGroup) => number | null): Column<UsageGroup> {
  return { title, value, shown: (group) => formatCount(value(group)), align: "right" };
}
