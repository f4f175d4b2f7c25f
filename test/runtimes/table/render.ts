import { exceptions } from "./exceptions.ts";
import type { ColumnResult } from "./results.ts";
import { runtimes } from "./runtimes.ts";
import { scenarios } from "./scenarios.ts";

/** Renders the table of scenarios, runtimes and connections, followed by the reasons for missing cells. Pure. */
export function renderTable(results: readonly ColumnResult[]): string {
  const columns = Object.entries(runtimes).flatMap(([runtime, { title, connections, through }]) =>
    connections.map((connection) => ({
      runtime,
      title: [title, through?.[connection]].filter(Boolean).join(" by "),
      connection,
      result: find(results, runtime, connection),
    })),
  );
  const notes: string[] = [];
  const cell = ({ runtime, connection, result }: (typeof columns)[number], scenario: string): string => {
    if (result?.held.includes(scenario) === true) return "✓";
    const exception = exceptions.find((one) => one.runtime === runtime && one.connection === connection && one.scenario === scenario);
    if (exception === undefined) return "✗";
    if (!notes.includes(exception.reason)) notes.push(exception.reason);
    return `– (${notes.indexOf(exception.reason) + 1})`;
  };
  const rows = scenarios.map(({ name }) => [name, ...columns.map((column) => cell(column, name))]);
  const lines = [
    ["", ...columns.map(({ title, connection, result }) => `${title} ${result?.version ?? ""}<br>\`${connection}\``)],
    ["---", ...columns.map(() => ":-:")],
    ...rows,
  ].map((row) => `| ${row.join(" | ")} |`);
  return [...lines, ...(notes.length === 0 ? [] : ["", ...notes.map((note, index) => `${index + 1}. ${note}`)])].join("\n");
}

/** Renders the measured times from a cancel until no process of the task is left. Pure. */
export function renderCancelTimes(results: readonly ColumnResult[]): string {
  const rows = results.map(({ runtime, connection, cancelMs }) => {
    const sorted = cancelMs.toSorted((a, b) => a - b);
    const at = (share: number) => `${((sorted[Math.ceil(sorted.length * share) - 1] ?? Number.NaN) / 1000).toFixed(2)} s`;
    return `| ${runtime} | \`${connection}\` | ${sorted.length} | ${at(0.5)} | ${at(0.95)} |`;
  });
  return ["| runtime | connection | cancels | p50 | p95 |", "|---|---|--:|--:|--:|", ...rows].join("\n");
}

const find = (results: readonly ColumnResult[], runtime: string, connection: string): ColumnResult | undefined =>
  results.find((result) => result.runtime === runtime && result.connection === connection);
