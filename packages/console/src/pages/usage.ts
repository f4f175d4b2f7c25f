import type { Budget, Stats, UsageCounts, UsageGroup } from "bridge-client";
import { html, nothing, type TemplateResult } from "lit";
import { PageElement } from "../element.ts";
import { formatTime, localZone, showHidden } from "../format.ts";
import { poll } from "../live/poll.ts";
import { serverNow } from "../live/server-clock.ts";
import { errorNote } from "../parts/badges.ts";
import { budgetBars } from "../parts/budget-bars.ts";
import { rangePicker } from "../parts/range-picker.ts";
import "../parts/usage-bars.ts";
import { type Previous, usageFigures } from "../parts/usage-figures.ts";
import { type SortColumn, type Sorting, sortColumns, usageTable } from "../parts/usage-table.ts";
import { linkTo, navigate } from "../router.ts";
import { MAX_PARTS, type Measure, measures } from "../usage.ts";
import {
  dayOf,
  describeRange,
  type PreviousPeriod,
  parseRange,
  previousOf,
  timesOf,
  toRangeQuery,
  type UsageRange,
} from "../usage-range.ts";

const INTERVAL_MS = 15_000;
const MAX_GROUPS = 50;

/** Bridge lists the hours of at most this many days. */
const MAX_DAYS_OF_HOURS = 30;
/** Shorter ranges have a chart of hours. */
const MIN_DAYS_OF_DAYS = 3;
const groupings = ["agent", "provider", "model", "label", "day", "hour"] as const;
type Grouping = (typeof groupings)[number];
const groupingLabels: Readonly<Record<Grouping, string>> = {
  agent: "Agent",
  provider: "Adapter",
  model: "Model",
  label: "Label",
  day: "Day",
  hour: "Hour",
};
/** The groupings by which bars are split. A task with several labels would be in several parts. */
const splits: readonly Grouping[] = ["agent", "provider", "model"];

const measureNames: Readonly<Record<Measure, string>> = { tasks: "Tasks", cost: "Cost", tokens: "Tokens" };

/** The choices in the URL. */
interface Choice {
  range: UsageRange;
  by: Grouping;
  show: Measure;
  /** Null: as the grouping is usually sorted. */
  sort: Sorting | null;
}

/** What the requests have returned: the rows of the table, the bars of the chart, and the sums of the period before. */
interface Loaded {
  choice: Choice;
  table: Stats;
  chart: Stats;
  previous: (Previous & Pick<PreviousPeriod, "isPartial">) | null;
  budgets: readonly Budget[];
}

/** Cost, tokens and numbers of tasks. The chart is an addition: the table contains the numbers. */
class Usage extends PageElement {
  #cursor = -1;
  #loaded = poll(this, (signal) => this.#load(signal), { intervalMs: () => INTERVAL_MS });

  #choice(): Choice {
    const { query } = this.route;
    const range = parseRange(query);
    const by = groupings.find((name) => name === query.get("by")) ?? "agent";
    const show = measures.find((name) => name === query.get("show")) ?? "cost";
    const column = sortColumns.find((name) => name === query.get("sort"));
    const sort = column === undefined ? null : { column, isAscending: query.get("order") === "asc" };
    return { range, by: by === "hour" && timesOf(range, serverNow()).days > MAX_DAYS_OF_HOURS ? "day" : by, show, sort };
  }

  async #load(signal: AbortSignal): Promise<Loaded> {
    const choice = this.#choice();
    const { range, by } = choice;
    const { from, to, days } = timesOf(range, serverNow());
    const before = previousOf(range, serverNow());
    const get = (times: { from: Date; to: Date | null }, query: Record<string, string>): Promise<Stats> => {
      const fields = { from: times.from.toISOString(), ...(times.to !== null && { to: times.to.toISOString() }), ...query };
      return this.context.api.call<Stats>(`/api/v2/stats?${new URLSearchParams(fields)}`, { signal });
    };
    const time = days < MIN_DAYS_OF_DAYS ? "hour" : "day";
    const split = splits.includes(by) ? by : "agent";
    const [table, chart, previous, budgets] = await Promise.all([
      by === time ? null : get({ from, to }, { by, limit: String(MAX_GROUPS) }),
      get({ from, to }, { by: time, split, limit: String(MAX_PARTS) }),
      before === null ? null : get(before, { by: "provider", limit: "1" }),
      this.context.api.call<{ data: Budget[] }>("/api/v2/budgets?limit=200", { signal }),
    ]);
    return {
      ...{ choice, chart, table: table ?? chart, budgets: budgets.data },
      previous: previous === null || before === null ? null : { total: previous.total, ...before },
    };
  }

  protected override updated(): void {
    const { value } = this.#loaded;
    if (value !== undefined && !isSame(value.choice, this.#choice())) this.#loaded.refresh();
  }

  #openDay(group: UsageGroup | undefined): void {
    if (group?.key != null) navigate(dayLink(group.key, this.#choice()));
  }

  override onKey(key: string): boolean {
    if (key !== "j" && key !== "k") return false;
    const links = this.querySelectorAll<HTMLElement>("tbody a");
    this.#cursor = Math.min(links.length - 1, Math.max(0, this.#cursor + (key === "j" ? 1 : -1)));
    links[this.#cursor]?.focus();
    return true;
  }

  protected override render(): TemplateResult {
    const choice = this.#choice();
    const { value, error } = this.#loaded;
    const current = value !== undefined && isSame(value.choice, choice) ? value : undefined;
    const toLink = (range: UsageRange): string => toUrl({ ...choice, range });
    return html`
      <div class="page-head usage-head">
        <h1>Usage</h1>
        ${rangePicker(choice.range, { toLink, now: serverNow() })}
      </div>
      <p class="hint">
        ${describeRange(choice.range, serverNow())}. Days and hours are in local time (${localZone}).
        ${current === undefined ? nothing : describePrevious(current.previous)}
      </p>
      ${errorNote(error)} ${value === undefined ? nothing : budgetBars(value.budgets, serverNow())}
      ${current === undefined ? html`<p role="status">Loading …</p>` : this.#renderLoaded(current, choice)}
    `;
  }

  #renderTabs<Name extends "by" | "show">(
    label: string,
    name: Name,
    values: readonly Choice[Name][],
    labelOf: (value: Choice[Name]) => string,
  ): TemplateResult {
    const choice = this.#choice();
    return html`<nav class="tabs ${name === "by" ? "usage-groups" : ""}" aria-label=${label}>
      ${values.map(
        (value) => html`<a
          class="tab" href=${toUrl({ ...choice, [name]: value })} aria-current=${choice[name] === value ? "true" : nothing}
          >${labelOf(value)}</a
        >`,
      )}
    </nav>`;
  }

  /** A range that has not ended can still get a task. */
  #renderEmpty(range: UsageRange): TemplateResult {
    const canDispatch = timesOf(range, serverNow()).to === null && this.context.identity.scopes.includes("dispatch");
    const link = html`<a href=${linkTo("new")}>Dispatch one</a>, or choose`;
    return html`<p class="empty">No task ended in this window. ${canDispatch ? link : "Choose"} a longer window.</p>`;
  }

  #renderLoaded({ table, chart, previous }: Loaded, choice: Choice): TemplateResult {
    const { total } = table;
    if (total.tasks === 0) return html`${usageFigures(total, previous)} ${this.#renderEmpty(choice.range)}`;
    const onOpen = chart.by === "day" ? (index: number) => this.#openDay(chart.data[index]) : null;
    return html`
      ${usageFigures(total, previous)}
      <section class="panel chart-panel" aria-label="Chart">
        ${this.#renderTabs("Chart", "show", measures, (name) => measureNames[name])}
        <bridge-usage-bars .chart=${chart} .show=${choice.show} .onOpen=${onOpen}></bridge-usage-bars>
      </section>
      ${this.#renderTabs("Group by", "by", groupings, (name) => groupingLabels[name])}
      ${renderTable(table, choice)} ${total.tasksWithoutCost === 0 ? nothing : renderPriceHint(total)}
    `;
  }
}

function describePrevious(previous: Loaded["previous"]): string {
  if (previous === null) return "";
  if (previous.total.tasks === 0) return "Previous period: $0.00, 0 tasks.";
  return `Compared with ${previous.name}${previous.isPartial ? " until the same hour" : ""}.`;
}

const renderPriceHint = ({ tasks, tasksWithoutCost }: UsageCounts): TemplateResult => html`
  <p class="note info">
    The cost of ${tasksWithoutCost} of ${tasks} tasks is unknown, shown as <code>?</code>: their runtimes reported no tokens, or their models
    have no list price. Set the price of a model in <code>BRIDGE_MODEL_PRICES</code>, for example
    <code>{"my-model":{"input":3,"output":15}}</code> in US dollars per million tokens. The price applies to tasks that end after the restart.
  </p>
`;

/** Whether both choices need the same numbers. */
const isSame = (one: Choice, other: Choice): boolean =>
  one.by === other.by &&
  new URLSearchParams(toRangeQuery(one.range)).toString() === new URLSearchParams(toRangeQuery(other.range)).toString();

const toUrl = ({ range, by, show, sort }: Choice): string => {
  const sorting = sort === null ? {} : { sort: sort.column, order: sort.isAscending ? "asc" : "desc" };
  return linkTo(`usage?${new URLSearchParams({ ...toRangeQuery(range), by, show, ...sorting })}`);
};

/** The page that shows the usage of a day by agent. */
const dayLink = (key: string, choice: Choice): string => toUrl({ ...choice, range: { from: dayOf(key), to: dayOf(key) }, by: "agent" });

function renderTable({ by, data, other }: Stats, choice: Choice): TemplateResult {
  const isTime = by === "hour" || by === "day";
  const usual: SortColumn = isTime ? "key" : "cost";
  const groups = isTime ? data.filter(({ tasks }) => tasks > 0) : data;
  return html`
    ${usageTable(
      { data: groups, other },
      {
        title: groupingLabels[by],
        sorting: choice.sort ?? { column: usual, isAscending: false },
        toLink: (sort) => toUrl({ ...choice, sort }),
        renderKey: (group) => renderKey(by, group, choice),
      },
    )}
    ${by === "label" ? html`<p class="hint">A task with several labels is in several rows.</p>` : nothing}
    ${groups.length === 0 && other === null ? html`<p class="empty">No task in this window has a label.</p>` : nothing}
  `;
}

/** The name of a group, with a link to its tasks if the list has such a filter, or to the agents of the day. */
function renderKey(by: Grouping, { key }: UsageGroup, choice: Choice): TemplateResult | string {
  if (key === null) return "?";
  if (by === "hour") return formatTime(key, serverNow());
  if (by === "day") return html`<a href=${dayLink(key, choice)}>${dayOf(key)}</a>`;
  if (by === "agent") return html`<a href=${linkTo(`tasks?${new URLSearchParams({ agentId: key })}`)}>${key}</a>`;
  if (by === "provider") return html`<a href=${linkTo(`tasks?${new URLSearchParams({ provider: key, children: "all" })}`)}>${key}</a>`;
  if (by === "label") return html`<a href=${linkTo(`tasks?${new URLSearchParams({ label: key })}`)}>${showHidden(key)}</a>`;
  return showHidden(key);
}

customElements.define("bridge-usage", Usage);
