import type { Stats, UsageCounts, UsageGroup } from "bridge-client";
import { html, nothing, type TemplateResult } from "lit";
import { PageElement } from "../element.ts";
import { formatCost, formatCount, formatDuration, formatTime, showHidden } from "../format.ts";
import { poll } from "../live/poll.ts";
import { serverNow } from "../live/server-clock.ts";
import { errorNote } from "../parts/badges.ts";
import { linkTo } from "../router.ts";
import { formatCostSum, formatTokenSum, type Measure, measureParts, measures } from "../usage.ts";

const INTERVAL_MS = 15_000;
const MAX_GROUPS = 50;
const HOUR_SECONDS = 3600;

const windows = ["24h", "7d", "30d", "90d", "365d"] as const;
const groupings = ["agent", "provider", "model", "label", "day", "hour"] as const;
type Grouping = (typeof groupings)[number];
const groupingLabels: Readonly<Record<Grouping, string>> = {
  agent: "Agent",
  provider: "Adapter",
  model: "Model",
  label: "Label",
  day: "Day (UTC)",
  hour: "Hour",
};

/** The choices in the URL. */
interface Choice {
  window: (typeof windows)[number];
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
    const window = windows.find((name) => name === query.get("window")) ?? "24h";
    const by = groupings.find((name) => name === query.get("by")) ?? "agent";
    const show = measures.find((name) => name === query.get("show")) ?? "tasks";
    // Bridge lists the hours of at most 30 days.
    return { window, by: by === "hour" && (window === "90d" || window === "365d") ? "day" : by, show };
  }

  async #load(signal: AbortSignal): Promise<Loaded> {
    const choice = this.#choice();
    const { window, by } = choice;
    const get = (grouping: Grouping): Promise<Stats> =>
      this.context.api.call<Stats>(`/api/v2/stats?window=${window}&by=${grouping}&limit=${MAX_GROUPS}`, { signal });
    const time = window === "24h" ? "hour" : "day";
    const [table, chart] = await Promise.all([get(by), by === time ? null : get(time)]);
    return { choice, table, chart: chart ?? table };
  }

  protected override updated(): void {
    const { value } = this.#loaded;
    const choice = this.#choice();
    if (value === undefined) return;
    if (value.choice.window !== choice.window || value.choice.by !== choice.by) {
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
      isUtc: chart.by === "day",
      format: show === "cost" ? formatCost : formatCount,
    });
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
    const current = value?.choice.window === choice.window && value.choice.by === choice.by ? value : undefined;
    return html`
      <h1>Usage</h1>
      ${this.#renderTabs("Window", "window", windows, (name) => name)}
      ${this.#renderTabs("Group by", "by", groupings, (name) => groupingLabels[name])}
      ${errorNote(error)} ${current === undefined ? html`<p role="status">Loading …</p>` : this.#renderLoaded(current, choice)}
    `;
  }

  #renderTabs<Name extends keyof Choice>(
    label: string,
    name: Name,
    values: readonly Choice[Name][],
    labelOf: (value: Choice[Name]) => string,
  ): TemplateResult {
    const choice = this.#choice();
    const link = (value: Choice[Name]): string => linkTo(`usage?${new URLSearchParams({ ...choice, [name]: value })}`);
    return html`<nav class="tabs" aria-label=${label}>
      <span class="detail">${label}</span>
      ${values.map(
        (value) => html`<a class="tab" href=${link(value)} aria-current=${choice[name] === value ? "true" : nothing}>${labelOf(value)}</a>`,
      )}
    </nav>`;
  }

  #renderLoaded({ table }: Loaded, { show }: Choice): TemplateResult {
    const { total } = table;
    if (total.tasks === 0)
      return html`<p class="empty">No task ended in this window. <a href=${linkTo("new")}>Dispatch one</a>, or choose a longer window.</p>`;
    return html`
      ${renderTotal(total)} ${total.tasksWithoutCost === 0 ? nothing : renderPriceHint(total)}
      ${this.#renderTabs("Chart", "show", measures, (name) => name)}
      <div aria-hidden="true">
        <p class="legend">${measureParts[show].map(({ kind, label }) => html`<span class="swatch ${kind}">■</span> ${label} `)}</p>
        <div class="chart"></div>
      </div>
      ${renderTable(table)}
    `;
  }
}

const renderTotal = (total: UsageCounts): TemplateResult => html`
  <dl class="facts">
    ${renderFact("Cost", formatCostSum(total))}
    ${renderFact("Input tokens", formatTokenSum(total.inputTokens, total))}
    ${renderFact("Output tokens", formatTokenSum(total.outputTokens, total))}
    ${renderFact("Tasks", `${total.tasks}: ${total.completed} completed, ${total.failed} failed, ${total.cancelled} canceled`)}
  </dl>
`;

const renderFact = (name: string, value: string): TemplateResult => html`<div><dt>${name}</dt><dd>${value}</dd></div>`;

const renderPriceHint = ({ tasks, tasksWithoutCost }: UsageCounts): TemplateResult => html`
  <p class="note info">
    The cost of ${tasksWithoutCost} of ${tasks} tasks is unknown, shown as <code>?</code>: their runtimes reported none. Where Bridge calls a
    model itself, set its price in <code>BRIDGE_MODEL_PRICES</code>, for example
    <code>{"my-model":{"input":3,"output":15}}</code> in US dollars per million tokens. The price applies to tasks that end after the restart.
  </p>
`;

function renderTable({ by, data, other }: Stats): TemplateResult {
  const names = [
    groupingLabels[by],
    "Tasks",
    "Completed",
    "Failed",
    "Canceled",
    "Input tokens",
    "Cached",
    "Output tokens",
    "Run time",
    "Cost",
  ];
  const rows = by === "hour" || by === "day" ? data.filter(({ tasks }) => tasks > 0).toReversed() : data;
  return html`
    <div class="scroll" tabindex="0" role="region" aria-label="Usage by ${groupingLabels[by]}">
      <table class="usage">
        <thead>
          <tr>${names.map((name) => html`<th scope="col">${name}</th>`)}</tr>
        </thead>
        <tbody>
          ${rows.map((group) => renderRow(renderKey(by, group), group))}
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
    <td>${group.tasks}</td>
    <td>${group.completed}</td>
    <td>${group.failed}</td>
    <td>${group.cancelled}</td>
    <td>${formatTokenSum(group.inputTokens, group)}</td>
    <td>${formatTokenSum(group.cacheReadTokens, group)}</td>
    <td>${formatTokenSum(group.outputTokens, group)}</td>
    <td>${formatDuration(group.durationMs)}</td>
    <td>${formatCostSum(group)}</td>
  </tr>
`;

/** The name of a group, with a link to its tasks if the list has such a filter. */
function renderKey(by: Grouping, { key }: UsageGroup): TemplateResult | string {
  if (key === null) return "?";
  if (by === "hour") return formatTime(key, serverNow());
  if (by === "day") return key.slice(0, "2026-01-01".length);
  if (by === "agent") return html`<a href=${linkTo(`tasks?${new URLSearchParams({ agentId: key })}`)}>${key}</a>`;
  if (by === "provider") return html`<a href=${linkTo(`tasks?${new URLSearchParams({ provider: key })}`)}>${key}</a>`;
  if (by === "label") return html`<a href=${linkTo(`tasks?${new URLSearchParams({ label: key })}`)}>${showHidden(key)}</a>`;
  return showHidden(key);
}

customElements.define("bridge-usage", Usage);
