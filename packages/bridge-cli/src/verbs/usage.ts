import type { Stats, StatsQuery, UsageGroup } from "bridge-client";
import { CommandError } from "../command-error.ts";
import { formatCostSum, formatCount, formatDuration } from "../format.ts";
import { parseTime } from "../parse-time.ts";
import { type Column, printTable } from "../table.ts";
import type { Run } from "../verb.ts";

interface Options extends StatsQuery {
  today?: boolean;
  yesterday?: boolean;
}

/** Prints what the tasks of each group have used, and the total. */
export const run: Run<Options> = async ({ options, output, signal, connect }) => {
  const stats = await connect().client.getStats(toQuery(options), { signal });
  if (output.format === "json") {
    output.printJson(stats);
    return undefined;
  }
  const other = stats.other === null ? [] : [{ ...stats.other, key: "(other)" }];
  printTable(output, [...stats.data, ...other, { ...stats.total, key: "(total)" }], columnsFor(stats.by));
  if (output.format === "terminal") output.note(describeRange(stats));
  const { tasksWithoutCost } = stats.total;
  if (output.format === "terminal" && tasksWithoutCost > 0) output.note(`The cost of ${tasksWithoutCost} task(s) is unknown.`);
  return undefined;
};

/** Days are local ones, because people ask about their own days. */
function toQuery({ window, from, to, today = false, yesterday = false, by, limit }: Options): StatsQuery {
  const isRange = from !== undefined || to !== undefined;
  if ([window !== undefined, isRange, today, yesterday].filter(Boolean).length > 1)
    throw new CommandError("usage", "--window, --from with --to, --today and --yesterday cannot be combined.", {
      hint: "Use one of them.",
    });
  if (to !== undefined && from === undefined) throw new CommandError("usage", "--to needs --from.");
  const start = (days: number): string => {
    const now = new Date();
    return new Date(now.getFullYear(), now.getMonth(), now.getDate() + days).toISOString();
  };
  if (today) return { from: start(0), by, limit };
  if (yesterday) return { from: start(-1), to: start(0), by, limit };
  return { window, from: parseLocalTime("--from", from), to: parseLocalTime("--to", to), by, limit };
}

/** A date begins at midnight in local time. JavaScript reads a date without a time in UTC. */
const parseLocalTime = (flag: string, text: string | undefined): string | undefined =>
  parseTime(flag, text !== undefined && /^\d{4}-\d\d-\d\d$/.test(text) ? `${text}T00:00` : text);

function describeRange({ from, to }: Pick<Stats, "from" | "to">): string {
  const format = new Intl.DateTimeFormat("sv-SE", { dateStyle: "short", timeStyle: "short" });
  return `From ${format.format(new Date(from))} to ${format.format(new Date(to))}, ${Intl.DateTimeFormat().resolvedOptions().timeZone} time.`;
}

const columnsFor = (by: string): Column<UsageGroup>[] => [
  { title: by, value: ({ key }) => key ?? "(unknown)", isFlexible: true },
  count("tasks", ({ tasks }) => tasks),
  count("completed", ({ completed }) => completed),
  count("failed", ({ failed }) => failed),
  count("canceled", ({ cancelled }) => cancelled),
  { title: "time", value: ({ durationMs }) => durationMs, shown: ({ durationMs }) => formatDuration(durationMs), align: "right" },
  count("input", ({ inputTokens }) => inputTokens),
  count("output", ({ outputTokens }) => outputTokens),
  { title: "cost", value: ({ costUsd }) => costUsd, shown: formatCostSum, align: "right" },
];

function count(title: string, value: (group: UsageGroup) => number | null): Column<UsageGroup> {
  return { title, value, shown: (group) => formatCount(value(group)), align: "right" };
}
