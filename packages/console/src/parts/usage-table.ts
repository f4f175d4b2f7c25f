import type { Stats, UsageCounts, UsageGroup } from "bridge-client";
import { html, nothing, type TemplateResult } from "lit";
import { ArrowDown, ArrowUp } from "lucide";
import { formatDuration } from "../format.ts";
import { formatCostSum, formatTokenSum } from "../usage.ts";
import { icon } from "./icon.ts";

/** The columns of numbers. */
const columns = [
  { id: "cost", name: "Cost", read: ({ costUsd }) => costUsd, format: formatCostSum },
  { id: "tasks", name: "Tasks", read: ({ tasks }) => tasks, format: ({ tasks }) => String(tasks) },
  { id: "completed", name: "Completed", read: ({ completed }) => completed, format: ({ completed }) => String(completed) },
  { id: "failed", name: "Failed", read: ({ failed }) => failed, format: ({ failed }) => String(failed) },
  { id: "canceled", name: "Canceled", read: ({ cancelled }) => cancelled, format: ({ cancelled }) => String(cancelled) },
  {
    ...{ id: "input", name: "Input tokens", read: ({ inputTokens }) => inputTokens },
    format: (counts) => formatTokenSum(counts.inputTokens, counts),
  },
  {
    ...{ id: "cached", name: "Cached", read: ({ cacheReadTokens }) => cacheReadTokens },
    format: (counts) => formatTokenSum(counts.cacheReadTokens, counts),
  },
  {
    ...{ id: "output", name: "Output tokens", read: ({ outputTokens }) => outputTokens },
    format: (counts) => formatTokenSum(counts.outputTokens, counts),
  },
  { id: "time", name: "Run time", read: ({ durationMs }) => durationMs, format: ({ durationMs }) => formatDuration(durationMs) },
] as const satisfies readonly {
  id: string;
  name: string;
  read(counts: UsageCounts): number | null;
  format(counts: UsageCounts): string;
}[];

/** The column by which rows are sorted: `key` is the first one. */
export const sortColumns = ["key", ...columns.map(({ id }) => id)] as const;
export type SortColumn = (typeof sortColumns)[number];
export interface Sorting {
  column: SortColumn;
  isAscending: boolean;
}

interface UsageTableOptions {
  /** Title of the first column. */
  title: string;
  sorting: Sorting;
  toLink(sorting: Sorting): string;
  renderKey(group: UsageGroup): TemplateResult | string;
}

/** A table of usage, one row for each group. The rest is always the last row. */
export function usageTable({ data, other }: Pick<Stats, "data" | "other">, options: UsageTableOptions): TemplateResult {
  const { title, sorting, renderKey } = options;
  const header = (id: SortColumn, name: string): TemplateResult => {
    const isSorted = sorting.column === id;
    // Numbers are first sorted from the largest, and names from A.
    const isAscending = isSorted ? !sorting.isAscending : id === "key";
    return html`<th scope="col" aria-sort=${isSorted ? (sorting.isAscending ? "ascending" : "descending") : nothing}>
      <a href=${options.toLink({ column: id, isAscending })}>${name}${isSorted ? icon(sorting.isAscending ? ArrowUp : ArrowDown) : nothing}</a>
    </th>`;
  };
  return html`
    <div class="scroll usage-table" tabindex="0" role="region" aria-label="Usage by ${title}">
      <table class="usage">
        <thead>
          <tr>${header("key", title)}${columns.map(({ id, name }) => header(id, name))}</tr>
        </thead>
        <tbody>
          ${sortGroups(data, sorting).map((group) => renderRow(renderKey(group), group))}
          ${other === null ? nothing : renderRow("all others", other)}
        </tbody>
      </table>
    </div>
  `;
}

/** Unknown values are last in both directions. */
function sortGroups(groups: readonly UsageGroup[], { column, isAscending }: Sorting): UsageGroup[] {
  const sign = isAscending ? 1 : -1;
  const read = columns.find(({ id }) => id === column)?.read;
  return groups.toSorted((one, other) => {
    const [a, b] = read === undefined ? [one.key, other.key] : [read(one), read(other)];
    if (a === null || b === null) return a === b ? 0 : a === null ? 1 : -1;
    if (typeof a === "string" || typeof b === "string") return sign * String(a).localeCompare(String(b));
    return sign * (a - b);
  });
}

const renderRow = (name: TemplateResult | string, group: UsageCounts): TemplateResult => html`
  <tr>
    <th scope="row">${name}</th>
    ${columns.map(({ id, format }) => html`<td class=${id}>${format(group)}</td>`)}
  </tr>
`;
