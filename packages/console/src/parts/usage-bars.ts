import type { Stats } from "bridge-client";
import { html, nothing, type TemplateResult } from "lit";
import { BridgeElement } from "../element.ts";
import { type BarPart, formatMeasure, listBarParts, type Measure } from "../usage.ts";
import type { DrawnBars } from "../usage-chart.ts";

const HOUR_SECONDS = 3600;
const hourFormat = new Intl.DateTimeFormat([], { dateStyle: "medium", timeStyle: "short" });
const dayFormat = new Intl.DateTimeFormat([], { weekday: "short", year: "numeric", month: "short", day: "numeric" });
const HALF_DAY_MS = 12 * HOUR_SECONDS * 1000;

/** A chart of usage over time. The pointer and the arrow keys choose a bar, whose time, parts and sum are shown. */
class UsageBars extends BridgeElement {
  static override properties = { chart: { attribute: false }, show: { attribute: false }, onOpen: { attribute: false } };
  declare chart: Stats;
  declare show: Measure;
  /** Opens the chosen bar; null if bars have no page. */
  declare onOpen: ((index: number) => void) | null;
  #chosen: number | null = null;
  #drawn: DrawnBars | null = null;
  #drawnOf: unknown[] = [];
  #theme = matchMedia("(prefers-color-scheme: dark)");
  #onTheme = (): void => void this.#draw();

  override connectedCallback(): void {
    super.connectedCallback();
    this.#theme.addEventListener("change", this.#onTheme);
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.#theme.removeEventListener("change", this.#onTheme);
    this.#drawn?.remove();
    this.#drawn = null;
  }

  protected override updated(): void {
    if (this.#drawnOf[0] !== this.chart || this.#drawnOf[1] !== this.show) {
      this.#drawnOf = [this.chart, this.show];
      void this.#draw();
    }
    this.#placeTip();
  }

  /** Loads the code of charts when it is first needed. */
  async #draw(): Promise<void> {
    // The table contains the numbers, so the page works without this file, for example while Bridge is upgraded.
    const code = await import("../usage-chart.ts").catch(() => null);
    const host = this.querySelector<HTMLElement>(".chart");
    this.#drawn?.remove();
    this.#drawn = null;
    if (!this.isConnected || code === null || host === null) return;
    const { chart, show } = this;
    const colorOf = (kind: string): string => getComputedStyle(this.querySelector(`.swatch.${kind}`) ?? host).color;
    this.#drawn = code.drawBars(host, {
      times: chart.data.map(({ key }) => Date.parse(key ?? "") / 1000),
      stepSeconds: chart.by === "hour" ? HOUR_SECONDS : 24 * HOUR_SECONDS,
      parts: this.#parts().map(({ kind, values }) => ({ color: colorOf(kind), values })),
      color: getComputedStyle(host).color,
      lineColor: getComputedStyle(host).borderTopColor,
      format: (value) => formatMeasure(show, value),
      onPoint: (index) => this.#choose(index),
      onClick: (index) => this.onOpen?.(index),
    });
    this.#placeTip();
  }

  #parts(): BarPart[] {
    return listBarParts(this.chart, this.show);
  }

  #choose(index: number | null): void {
    if (index === this.#chosen) return;
    this.#chosen = index;
    this.requestUpdate();
  }

  #onKey(event: KeyboardEvent): void {
    const last = this.chart.data.length - 1;
    const at = this.#chosen ?? last;
    const target = { ArrowLeft: at - 1, ArrowDown: at - 1, ArrowRight: at + 1, ArrowUp: at + 1, Home: 0, End: last }[event.key];
    if (target !== undefined) this.#choose(Math.min(last, Math.max(0, target)));
    else if (event.key === "Enter") this.onOpen?.(at);
    else if (event.key === "Escape") this.#choose(null);
    else return;
    event.preventDefault();
  }

  /** Puts the values next to the bar, on the side with more room. */
  #placeTip(): void {
    const place = this.#drawn?.mark(this.#chosen);
    const tip = this.querySelector<HTMLElement>(".chart-tip");
    if (place === undefined || tip === null) return;
    const { clientWidth } = this;
    const isLeft = place.start + place.end > clientWidth;
    const left = isLeft ? place.start - tip.offsetWidth - 4 : place.end + 4;
    tip.style.left = `${Math.max(0, Math.min(left, clientWidth - tip.offsetWidth))}px`;
  }

  protected override render(): TemplateResult {
    const { by, data } = this.chart;
    const parts = this.#parts();
    const chosen = Math.min(this.#chosen ?? data.length - 1, data.length - 1);
    const name = { cost: "Cost", tokens: "Tokens", tasks: "Tasks" }[this.show];
    return html`
      <div
        class="chart ${this.onOpen === null ? "" : "clickable"}" tabindex="0" role="slider" aria-label="${name} by ${by}"
        aria-valuemin="0" aria-valuemax=${data.length - 1} aria-valuenow=${chosen} aria-valuetext=${this.#describe(chosen, parts)}
        @keydown=${this.#onKey} @focus=${() => this.#choose(this.#lastUsed(parts))} @blur=${() => this.#choose(null)}
      ></div>
      ${this.#chosen === null ? nothing : this.#renderTip(chosen, parts)}
      <p class="legend">${parts.map(({ kind, label }) => html`<span><span class="swatch ${kind}" aria-hidden="true">■</span> ${label}</span> `)}</p>
    `;
  }

  /** The last bar that is not empty. */
  #lastUsed(parts: readonly BarPart[]): number {
    const index = this.chart.data.findLastIndex((_, at) => parts.some(({ values }) => (values[at] ?? 0) > 0));
    return index === -1 ? this.chart.data.length - 1 : index;
  }

  #timeOf(index: number): string {
    const key = this.chart.data[index]?.key ?? "";
    if (this.chart.by === "day") return dayFormat.format(Date.parse(key) + HALF_DAY_MS);
    return hourFormat.formatRange(Date.parse(key), Date.parse(key) + HOUR_SECONDS * 1000);
  }

  #describe(index: number, parts: readonly BarPart[]): string {
    const shown = listShown(index, parts).map(({ label, value }) => `${label} ${formatMeasure(this.show, value)}`);
    return `${this.#timeOf(index)}: ${[`sum ${this.#sumOf(index, parts)}`, ...shown].join(", ")}`;
  }

  /** The sum, with a question mark if some of it is unknown. */
  #sumOf(index: number, parts: readonly BarPart[]): string {
    const values = parts.map(({ values: all }) => all[index] ?? null);
    const known = values.filter((value) => value !== null);
    if (known.length === 0 && values.length > 0) return "?";
    const group = this.chart.data[index];
    const unknown = { cost: group?.tasksWithoutCost, tokens: group?.tasksWithoutUsage, tasks: 0 }[this.show] ?? 0;
    const sum = known.reduce((total, value) => total + value, 0);
    if (unknown > 0 && sum === 0) return "?";
    return `${formatMeasure(this.show, sum)}${unknown > 0 ? " + ?" : ""}`;
  }

  #renderTip(index: number, parts: readonly BarPart[]): TemplateResult {
    return html`<div class="chart-tip" aria-hidden="true">
      <p>${this.#timeOf(index)}</p>
      <dl>
        ${listShown(index, parts).map(
          ({ kind, label, value }) =>
            html`<dt><span class="swatch ${kind}">■</span> ${label}</dt><dd>${formatMeasure(this.show, value)}</dd>`,
        )}
        <dt class="sum">Sum</dt><dd class="sum">${this.#sumOf(index, parts)}</dd>
      </dl>
    </div>`;
  }
}

/** The parts of a bar that are not 0, from the top to the bottom. */
const listShown = (index: number, parts: readonly BarPart[]): { kind: string; label: string; value: number | null }[] =>
  parts
    .map(({ kind, label, values }) => ({ kind, label, value: values[index] ?? null }))
    .filter(({ value }) => value !== 0)
    .toReversed();

customElements.define("bridge-usage-bars", UsageBars);
