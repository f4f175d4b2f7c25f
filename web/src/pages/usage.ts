import type { Stats, UsageCounts, UsageGroup } from "bridge-client";
import { html, nothing, type TemplateResult } from "lit";
import { PageElement } from "../element.ts";
import { formatCost, formatCount, formatDuration, formatTime, localZone, showHidden } from "../format.ts";
import { poll } from "../live/poll.ts";
import { serverNow } from "../live/server-clock.ts";
import { errorNote } from "../parts/badges.ts";
import { rangePicker } from "../parts/range-picker.ts";
import { linkTo, navigate } from "../router.ts";
import { formatCostSum, formatTokenSum, type Measure, measureParts, measures } from "../usage.ts";
import { dayOf, describeRange, parseRange, timesOf, toRangeQuery, type UsageRange } from "../usage-range.ts";

const INTERVAL_MS = 15_000;
const MAX_GROUPS = 50;
const HOUR_SECONDS = 3600;

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

const measureNames: Readonly<Record<Measure, string>> = { tasks: "Tasks", cost: "Cost", tokens: "Tokens" };

/** The choices in the URL. */
interface Choice {
  range: UsageRange;
  by: Grouping;
  show: Measure;
}

/** What both requests have returned: the rows of the table, and the bars of the chart. */
interface Loaded {
  choice: Choice;
  table: Stats;
  chart: Stats;
}

/** Cost, tokens and numbers of tasks. The chart is an addition: the table contains the numbers. */
class Usage extends PageElement {
  #cursor = -1;
  #drawn: unknown[] = [];
  #removeChart: () => void = () => {};
  #theme = matchMedia("(prefers-color-scheme: dark)");
  #onTheme = (): void => void this.#draw();
  #loaded = poll(this, (signal) => this.#load(signal), { intervalMs: () => INTERVAL_MS });

  override connectedCallback(): void {
    super.connectedCallback();
    this.#theme.addEventListener("change", this.#onTheme);
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.#theme.removeEventListener("change", this.#onTheme);
    this.#removeChart();
  }

  #choice(): Choice {
    const { query } = this.route;
    const range = parseRange(query);
    const by = groupings.find((name) => name === query.get("by")) ?? "agent";
    const show = measures.find((name) => name === query.get("show")) ?? "tasks";
    return { range, by: by === "hour" && timesOf(range, serverNow()).days > MAX_DAYS_OF_HOURS ? "day" : by, show };
  }

  async #load(signal: AbortSignal): Promise<Loaded> {
    const choice = this.#choice();
    const { range, by } = choice;
    const { from, to, days } = timesOf(range, serverNow());
    const times = { from: from.toISOString(), ...(to !== null && { to: to.toISOString() }) };
    const get = (grouping: Grouping): Promise<Stats> =>
      this.context.api.call<Stats>(`/api/v2/stats?${new URLSearchParams({ ...times, by: grouping, limit: String(MAX_GROUPS) })}`, {
        signal,
      });
    const time = days < MIN_DAYS_OF_DAYS ? "hour" : "day";
    const [table, chart] = await Promise.all([get(by), by === time ? null : get(time)]);
    return { choice, table, chart: chart ?? table };
  }

  protected override updated(): void {
    const { value } = this.#loaded;
    const choice = this.#choice();
    if (value === undefined) return;
    if (!isSame(value.choice, choice)) {
      this.#loaded.refresh();
      return;
    }
    if (this.#drawn[0] === value && this.#drawn[1] === choice.show) return;
    this.#drawn = [value, choice.show];
    void this.#draw();
  }

  /** Loads the code of charts when it is first needed. */
  async #draw(): Promise<void> {
    // The table contains the numbers, so the page works without this file, for example while Bridge is upgraded.
    const code = await import("../usage-chart.ts").catch(() => null);
    const host = this.querySelector<HTMLElement>(".chart");
    const chart = this.#loaded.value?.chart;
    this.#removeChart();
    this.#removeChart = () => {};
    if (!this.isConnected || code === null || host === null || chart === undefined) return;
    const { show } = this.#choice();
    const colorOf = (selector: string): string => getComputedStyle(this.querySelector(selector) ?? host).color;
    this.#removeChart = code.drawBars(host, {
      times: chart.data.map(({ key }) => Date.parse(key ?? "") / 1000),
      stepSeconds: chart.by === "hour" ? HOUR_SECONDS : 24 * HOUR_SECONDS,
      parts: measureParts[show].map(({ kind, read }) => ({ color: colorOf(`.swatch.${kind}`), values: chart.data.map(read) })),
      color: getComputedStyle(host).color,
      lineColor: getComputedStyle(host).borderTopColor,
      format: show === "cost" ? formatCost : formatCount,
      onBar: chart.by === "day" ? (index) => this.#openDay(chart.data[index]) : null,
    });
  }

  #openDay(group: UsageGroup | undefined): void {
    if (group?.key != null) navigate(dayLink(group.key, this.#choice().show));
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
      <p class="hint">${describeRange(choice.range, serverNow())}. Days and hours are in local time (${localZone}).</p>
      ${errorNote(error)} ${current === undefined ? html`<p role="status">Loading …</p>` : this.#renderLoaded(current, choice)}
    `;
  }

  #renderTabs<Name extends "by" | "show">(
    label: string,
    name: Name,
    values: readonly Choice[Name][],
    labelOf: (value: Choice[Name]) => string,
  ): TemplateResult {
    const choice = this.#choice();
    return html`<nav class="tabs" aria-label=${label}>
      ${values.map(
        (value) => html`<a
          class="tab" href=${toUrl({ ...choice, [name]: value })} aria-current=${choice[name] === value ? "true" : nothing}
          >${labelOf(value)}</a
        >`,
      )}
    </nav>`;
  }

  #renderLoaded({ table, chart }: Loaded, { show }: Choice): TemplateResult {
    const { total } = table;
    if (total.tasks === 0)
      return html`<p class="empty">No task ended in this window. <a href=${linkTo("new")}>Dispatch one</a>, or choose a longer window.</p>`;
    return html`
      ${renderTotal(total)}
      <section class="panel chart-panel" aria-label="Chart">
        ${this.#renderTabs("Chart", "show", measures, (name) => measureNames[name])}
        <div aria-hidden="true">
          <div class="chart ${chart.by === "day" ? "clickable" : ""}"></div>
          <p class="legend">${measureParts[show].map(({ kind, label }) => html`<span class="swatch ${kind}">■</span> ${label} `)}</p>
        </div>
      </section>
      ${this.#renderTabs("Group by", "by", groupings, (name) => groupingLabels[name])}
      ${renderTable(table, show)} ${total.tasksWithoutCost === 0 ? nothing : renderPriceHint(total)}
    `;
  }
}

const renderTotal = (total: UsageCounts): TemplateResult => html`
  <dl class="facts usage-figures">
    ${renderFact("Cost", formatCostSum(total))}
    ${renderFact("Input tokens", formatTokenSum(total.inputTokens, total))}
    ${renderFact("Output tokens", formatTokenSum(total.outputTokens, total))}
    ${renderFact("Tasks", String(total.tasks), `${total.completed} completed, ${total.failed} failed, ${total.cancelled} canceled`)}
  </dl>
`;

const renderFact = (name: string, value: string, detail = ""): TemplateResult =>
  html`<div><dt>${name}</dt><dd>${value}</dd>${detail === "" ? nothing : html`<dd class="detail">${detail}</dd>`}</div>`;

const renderPriceHint = ({ tasks, tasksWithoutCost }: UsageCounts): TemplateResult => html`
  <p class="note info">
    The cost of ${tasksWithoutCost} of ${tasks} tasks is unknown, shown as <code>?</code>: their runtimes reported none. Where Bridge calls a
    model itself, set its price in <code>BRIDGE_MODEL_PRICES</code>, for example
    <code>{"my-model":{"input":3,"output":15}}</code> in US dollars per million tokens. The price applies to tasks that end after the restart.
  </p>
`;

/** Whether both choices need the same numbers. */
const isSame = (one: Choice, other: Choice): boolean =>
  one.by === other.by &&
  new URLSearchParams(toRangeQuery(one.range)).toString() === new URLSearchParams(toRangeQuery(other.range)).toString();

const toUrl = ({ range, by, show }: Choice): string => linkTo(`usage?${new URLSearchParams({ ...toRangeQuery(range), by, show })}`);

/** The page that shows the usage of a day by agent. */
const dayLink = (key: string, show: Measure): string => toUrl({ range: { from: dayOf(key), to: dayOf(key) }, by: "agent", show });

function renderTable({ by, data, other }: Stats, show: Measure): TemplateResult {
  const names = [
    groupingLabels[by],
    "Cost",
    "Tasks",
    "Completed",
    "Failed",
    "Canceled",
    "Input tokens",
    "Cached",
    "Output tokens",
    "Run time",
  ];
  const rows = by === "hour" || by === "day" ? data.filter(({ tasks }) => tasks > 0).toReversed() : data;
  return html`
    <div class="scroll usage-table" tabindex="0" role="region" aria-label="Usage by ${groupingLabels[by]}">
      <table class="usage">
        <thead>
          <tr>${names.map((name) => html`<th scope="col">${name}</th>`)}</tr>
        </thead>
        <tbody>
          ${rows.map((group) => renderRow(renderKey(by, group, show), group))}
          ${other === null ? nothing : renderRow("all others", other)}
        </tbody>
      </table>
    </div>
    ${by === "label" ? html`<p class="hint">A task with several labels is in several rows.</p>` : nothing}
    ${rows.length === 0 && other === null ? html`<p class="empty">No task in this window has a label.</p>` : nothing}
  `;
}

const renderRow = (name: TemplateResult | string, group: UsageCounts): TemplateResult => html`
  <tr>
    <th scope="row">${name}</th>
    <td class="cost">${formatCostSum(group)}</td>
    <td>${group.tasks}</td>
    <td>${group.completed}</td>
    <td>${group.failed}</td>
    <td>${group.cancelled}</td>
    <td>${formatTokenSum(group.inputTokens, group)}</td>
    <td>${formatTokenSum(group.cacheReadTokens, group)}</td>
    <td>${formatTokenSum(group.outputTokens, group)}</td>
    <td>${formatDuration(group.durationMs)}</td>
  </tr>
`;

/** The name of a group, with a link to its tasks if the list has such a filter, or to the agents of the day. */
function renderKey(by: Grouping, { key }: UsageGroup, show: Measure): TemplateResult | string {
  if (key === null) return "?";
  if (by === "hour") return formatTime(key, serverNow());
  if (by === "day") return html`<a href=${dayLink(key, show)}>${dayOf(key)}</a>`;
  if (by === "agent") return html`<a href=${linkTo(`tasks?${new URLSearchParams({ agentId: key })}`)}>${key}</a>`;
  if (by === "provider") return html`<a href=${linkTo(`tasks?${new URLSearchParams({ provider: key })}`)}>${key}</a>`;
  if (by === "label") return html`<a href=${linkTo(`tasks?${new URLSearchParams({ label: key })}`)}>${showHidden(key)}</a>`;
  return showHidden(key);
}

customElements.define("bridge-usage", Usage);
