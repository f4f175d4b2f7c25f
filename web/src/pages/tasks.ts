import { html, nothing, type PropertyValues, type TemplateResult } from "lit";
import { live } from "lit/directives/live.js";
import { repeat } from "lit/directives/repeat.js";
import { ApiError } from "../api.ts";
import { PageElement } from "../element.ts";
import { formatCost, fromLocalTime, showHidden, toLocalTime } from "../format.ts";
import { poll } from "../live/poll.ts";
import { assignSlots } from "../live/row-slots.ts";
import { serverNow } from "../live/server-clock.ts";
import { createTaskTable, type Row } from "../live/task-table.ts";
import { activityBadge, age, callbackBadge, errorNote } from "../parts/badges.ts";
import { linkTo, navigate, taskLink } from "../router.ts";
import { explainEnd, findActivity, hasEnded } from "../task-state.ts";

const FIRST_PAGE = 100;
const NEXT_PAGE = 200;
/** Rows that are rendered above and below the visible ones. */
const MARGIN_ROWS = 4;
/** Distance to the end of the loaded rows at which the next page is requested. */
const LOAD_AHEAD_ROWS = 60;
const CONCURRENT_CANCELS = 4;
/** Filters that are always visible. */
const MAIN_FILTERS = 4;
/** Heights of a row in the style sheet. */
const ROW_HEIGHT = 34;
const NARROW_ROW_HEIGHT = 82;
/** An unknown task appears after at most this time. */
const UNKNOWN_TASK_MS = 500;

const narrow = matchMedia("(max-width: 760px)");

interface Filter {
  name: string;
  label: string;
  /** The values to choose from, with their names if those differ; null for any text, and `time` for a time. */
  values: readonly (string | readonly [value: string, name: string])[] | "time" | null;
  /** The form of a text. */
  example?: string;
}

/** The list of tasks. */
class Tasks extends PageElement {
  #table = createTaskTable();
  #hasMore = false;
  #isLoadingMore = false;
  #nextCursor: string | null = null;
  /** Indexes of the rendered rows; the last one is exclusive. */
  #rendered = { first: 0, last: 0 };
  /** The elements of the rendered rows. */
  #slots = new Map<string, number>();
  #selected = new Set<string>();
  #cursor = -1;
  #isConfirming = false;
  #message = "";
  #error: ApiError | null = null;
  #unknownTimer: ReturnType<typeof setTimeout> | undefined;
  #unsubscribe: () => void = () => {};
  #generation = 0;
  /** Whether the rows belong to the current filters. */
  #isLoaded = false;
  #poll = poll(this, (signal) => this.#loadFirst(signal));
  #hasScrolled = false;
  #onScroll = (): void => {
    this.#hasScrolled = true;
    this.requestUpdate();
  };

  /** Scrolling shows the next rows at once; events can arrive by the hundred per second. */
  protected override get paintGapMs(): number {
    return this.#hasScrolled ? 0 : 100;
  }

  override connectedCallback(): void {
    super.connectedCallback();
    addEventListener("scroll", this.#onScroll, { passive: true });
    addEventListener("resize", this.#onScroll);
    this.#unsubscribe = this.context.feed.subscribe((events) => {
      if (events === null) return this.#poll.refresh();
      if (this.#table.patch(events)) this.#unknownTimer ??= setTimeout(() => this.#loadUnknown(), UNKNOWN_TASK_MS);
      this.requestUpdate();
    });
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    removeEventListener("scroll", this.#onScroll);
    removeEventListener("resize", this.#onScroll);
    clearTimeout(this.#unknownTimer);
    this.#unsubscribe();
  }

  protected override willUpdate(changed: PropertyValues<this>): void {
    const before = changed.get("route");
    if (before === undefined || before.query.toString() === this.route.query.toString()) return;
    this.#table = createTaskTable();
    this.#generation += 1;
    this.#isLoaded = false;
    this.#nextCursor = null;
    this.#hasMore = false;
    this.#selected.clear();
    this.#cursor = -1;
    this.#poll.refresh();
  }

  #loadUnknown(): void {
    this.#unknownTimer = undefined;
    this.#poll.refresh();
  }

  #filters(): Filter[] {
    const providers = this.context.attention.state.adapters.map(({ provider }) => provider);
    return [
      { name: "q", label: "Title contains", values: null },
      { name: "state", label: "State", values: ["queued", "running", "completed", "failed", "cancelled"] },
      { name: "provider", label: "Adapter", values: providers },
      { name: "agentId", label: "Agent", values: null },
      { name: "label", label: "Label", values: null, example: "name=value" },
      { name: "errorCode", label: "Error code", values: null },
      { name: "callback", label: "Callback", values: ["pending", "delivered", "dead"] },
      { name: "idPrefix", label: "Id starts with", values: null },
      { name: "parentTaskId", label: "Parent task", values: null },
      { name: "root", label: "Child tasks", values: [["*", "none"]] },
      { name: "createdAfter", label: "Created after", values: "time" },
      { name: "createdBefore", label: "Created before", values: "time" },
    ];
  }

  #query(): Record<string, string> {
    return Object.fromEntries(this.#filters().map(({ name }) => [name, this.route.query.get(name) ?? ""]));
  }

  async #loadFirst(signal: AbortSignal): Promise<boolean> {
    const table = this.#table;
    const generation = this.#generation;
    const mark = table.begin();
    try {
      const page = await this.context.api.list<Row>("/api/v2/tasks", { ...this.#query(), limit: FIRST_PAGE }, { signal });
      const isFirst = table.length === 0;
      table.applyFirst(mark, page.data, page.meta.nextCursor !== null);
      this.#isLoaded ||= generation === this.#generation;
      // Later snapshots renew only the first page; the cursor stays at the end of what is loaded.
      if (generation === this.#generation && (isFirst || this.#nextCursor === null || table.length <= page.data.length)) {
        this.#nextCursor = page.meta.nextCursor;
        this.#hasMore = page.meta.nextCursor !== null;
      }
      return true;
    } catch (error) {
      table.abandon(mark);
      throw error;
    }
  }

  async #loadMore(): Promise<void> {
    if (this.#isLoadingMore || this.#nextCursor === null) return;
    this.#isLoadingMore = true;
    const table = this.#table;
    const mark = table.begin();
    try {
      const query = { ...this.#query(), limit: NEXT_PAGE, cursor: this.#nextCursor };
      const page = await this.context.api.list<Row>("/api/v2/tasks", query);
      table.append(mark, page.data);
      if (table === this.#table) {
        this.#nextCursor = page.meta.nextCursor;
        this.#hasMore = this.#nextCursor !== null;
      }
    } catch (error) {
      table.abandon(mark);
      this.#error = error instanceof ApiError ? error : null;
    } finally {
      this.#isLoadingMore = false;
      this.requestUpdate();
    }
  }

  #setFilter(name: string, value: string): void {
    const query = new URLSearchParams(this.route.query);
    if (value === "") query.delete(name);
    else query.set(name, value);
    const text = query.toString();
    navigate(linkTo(text === "" ? "tasks" : `tasks?${text}`), { replace: true });
  }

  override onKey(key: string): boolean {
    const { length } = this.#table;
    if (key === "/") {
      this.querySelector<HTMLInputElement>(".filters input")?.focus();
      return true;
    }
    if ((key === "j" || key === "k") && length > 0) {
      this.#cursor = Math.min(length - 1, Math.max(0, this.#cursor + (key === "j" ? 1 : -1)));
      void this.#focusCursor();
      return true;
    }
    const [row] = this.#table.list(this.#cursor, this.#cursor + 1);
    if (key === "x" && row !== undefined) {
      this.#toggle(row.taskId);
      return true;
    }
    return false;
  }

  async #focusCursor(): Promise<void> {
    const list = this.querySelector<HTMLElement>(".window");
    if (list === null) return;
    const height = rowHeight();
    const top = list.getBoundingClientRect().top + this.#cursor * height;
    if (top < 0) scrollBy(0, top - height);
    else if (top + height > innerHeight) scrollBy(0, top + 2 * height - innerHeight);
    this.requestUpdate();
    await this.updateComplete;
    this.querySelector<HTMLElement>(`[data-index="${this.#cursor}"] a`)?.focus({ preventScroll: true });
  }

  #toggle(taskId: string): void {
    if (!this.#selected.delete(taskId)) this.#selected.add(taskId);
    this.#isConfirming = false;
    this.requestUpdate();
  }

  async #cancelSelected(): Promise<void> {
    const ids = [...this.#selected];
    this.#isConfirming = false;
    this.#message = `Canceling ${ids.length} …`;
    this.requestUpdate();
    const failures: string[] = [];
    const work = async (): Promise<void> => {
      for (let id = ids.pop(); id !== undefined; id = ids.pop()) {
        const path = `/api/v2/tasks/${encodeURIComponent(id)}/cancel`;
        const taskId = id;
        await this.context.api.call(path, { method: "POST" }).catch((error: unknown) => failures.push(`${taskId}: ${String(error)}`));
      }
    };
    const count = ids.length;
    await Promise.all(Array.from({ length: CONCURRENT_CANCELS }, work));
    this.#selected.clear();
    this.#message = failures.length === 0 ? `Cancellation requested for ${count} tasks.` : failures.join("; ");
    this.#poll.refresh();
    this.requestUpdate();
  }

  protected override updated(): void {
    this.#hasScrolled = false;
    const list = this.querySelector<HTMLElement>(".window");
    const visible = this.querySelector<HTMLElement>(".visible");
    if (list === null || visible === null) return;
    const height = `${this.#table.length * rowHeight()}px`;
    if (list.style.height !== height) list.style.height = height;
    visible.style.transform = `translateY(${this.#rendered.first * rowHeight()}px)`;
    if (this.#hasMore && this.#rendered.last + LOAD_AHEAD_ROWS > this.#table.length) void this.#loadMore();
  }

  /** Returns which rows to render. Called once per paint, because it makes the browser calculate the layout. */
  #findRendered(): { first: number; last: number } {
    const top = this.querySelector(".window")?.getBoundingClientRect().top ?? 0;
    const first = Math.max(0, Math.floor(-top / rowHeight()) - MARGIN_ROWS);
    return { first, last: Math.min(this.#table.length, first + Math.ceil(innerHeight / rowHeight()) + 2 * MARGIN_ROWS) };
  }

  protected override render(): TemplateResult {
    const now = serverNow();
    this.#rendered = this.#findRendered();
    const { first, last } = this.#rendered;
    const rows = this.#table.list(first, last);
    this.#blurUnless(rows);
    this.#slots = assignSlots(
      this.#slots,
      rows.map(({ taskId }) => taskId),
      this.#hasScrolled,
    );
    return html`
      <h1>Tasks</h1>
      ${this.#renderFilters()}
      ${errorNote(this.#poll.error ?? this.#error)} ${this.#renderSelection()}
      ${this.#table.length === 0 ? this.#renderEmpty() : nothing}
      <div role="table" aria-label="Tasks" aria-rowcount=${this.#hasMore ? -1 : this.#table.length + 1} ?hidden=${this.#table.length === 0}>
        <div role="rowgroup">
          <div role="row" class="task-row heading" aria-rowindex="1">
            ${["Select", "State", "Task", "Agent", "Adapter", "Cost", "Callback", "Last event", "Created"].map(
              (name) => html`<span role="columnheader">${name}</span>`,
            )}
          </div>
        </div>
        <div role="rowgroup" class="window">
          <div class="visible" role="presentation">
            ${repeat(
              rows,
              ({ taskId }) => this.#slots.get(taskId),
              (row, index) => this.#renderRow(row, first + index, now),
            )}
          </div>
        </div>
      </div>
      ${this.#hasMore ? html`<p class="hint">${this.#table.length} tasks loaded. Scroll down for more.</p>` : nothing}
    `;
  }

  /** When another task reuses the element of a row, it must not take over the focus. */
  #blurUnless(rows: readonly Row[]): void {
    const focused = document.activeElement;
    const row = focused?.closest<HTMLElement>(".visible > .task-row");
    if (row != null && !rows.some(({ taskId }) => taskId === row.dataset["task"])) (focused as HTMLElement).blur();
  }

  #renderRow(row: Row, index: number, now: number): TemplateResult {
    return html`<div role="row" class="task-row" aria-rowindex=${index + 2} data-index=${index} data-task=${row.taskId}>
      <span role="cell"
        ><input
          type="checkbox" aria-label="Select ${row.taskId}" .checked=${live(this.#selected.has(row.taskId))}
          ?disabled=${hasEnded(row)} @change=${() => this.#toggle(row.taskId)}
      /></span>
      <span role="cell">${activityBadge(findActivity(row, now))}</span>
      <span role="cell" class="name"><a href=${taskLink(row.taskId)}>${showHidden(row.title ?? "")} <span class="detail">${row.taskId}${explainEnd(row)}</span></a></span>
      <span role="cell">${row.agentId}</span>
      <span role="cell">${row.provider}</span>
      <span role="cell" class="number">${hasEnded(row) ? formatCost(row.costUsd) : nothing}</span>
      <span role="cell">${callbackBadge(row.callback)}</span>
      <span role="cell" class="number">${age(row.lastProgressAt, now)}</span>
      <span role="cell" class="number">${age(row.createdAt, now)}</span>
    </div>`;
  }

  /** Filters that are rarely used are behind a disclosure, because all of them would cover the list on a phone. */
  #renderFilters(): TemplateResult {
    const filters = this.#filters();
    const more = filters.slice(MAIN_FILTERS);
    const isUsed = more.some(({ name }) => this.route.query.has(name));
    return html`<search class="filters">
      ${filters.slice(0, MAIN_FILTERS).map((filter) => this.#renderFilter(filter))}
      <details ?open=${isUsed}>
        <summary>More filters</summary>
        <div class="filters">${more.map((filter) => this.#renderFilter(filter))}</div>
      </details>
    </search>`;
  }

  #renderFilter({ name, label, values, example }: Filter): TemplateResult {
    const value = this.route.query.get(name) ?? "";
    const onChange = (event: Event): void => this.#setFilter(name, (event.target as HTMLInputElement).value.trim());
    const onTime = (event: Event): void => this.#setFilter(name, fromLocalTime((event.target as HTMLInputElement).value));
    // Without live(): a render, such as after an event, must not replace what a person is typing.
    if (values === null)
      return html`<label
        >${label} <input .value=${value} @change=${onChange} placeholder=${example ?? nothing} spellcheck="false" autocomplete="off"
      /></label>`;
    if (values === "time")
      return html`<label>${label} <input type="datetime-local" .value=${toLocalTime(value)} @change=${onTime} /></label>`;
    const options = values.map((option) => (typeof option === "string" ? ([option, option] as const) : option));
    const isKnown = value === "" || options.some(([option]) => option === value);
    return html`<label
      >${label}
      <select @change=${onChange}>
        <option value="" ?selected=${value === ""}>all</option>
        ${(isKnown ? options : [...options, [value, value] as const]).map(
          ([option, text]) => html`<option value=${option} ?selected=${option === value}>${text}</option>`,
        )}
      </select></label
    >`;
  }

  #renderSelection(): TemplateResult | typeof nothing {
    const count = this.#selected.size;
    const message = this.#message === "" ? nothing : html`<p class="note info" role="status">${showHidden(this.#message)}</p>`;
    if (count === 0 || !this.context.identity.scopes.includes("dispatch")) return message;
    const ask = html`<button class="danger" @click=${() => this.#confirm(true)}>Cancel ${count} ${count === 1 ? "task" : "tasks"}</button>`;
    const confirm = html`<span>Cancel ${count} and all of their child tasks?</span>
      <button class="danger" @click=${() => this.#cancelSelected()}>Yes, cancel</button>
      <button @click=${() => this.#confirm(false)}>No</button>`;
    return html`<div class="selection">${this.#isConfirming ? confirm : ask}</div>
      ${message}`;
  }

  #confirm(isConfirming: boolean): void {
    this.#isConfirming = isConfirming;
    this.requestUpdate();
  }

  #renderEmpty(): TemplateResult | typeof nothing {
    // A page of a search can be empty before the end of the list.
    if (!this.#isLoaded || this.#hasMore) return this.#poll.error === null ? html`<p role="status">Loading …</p>` : nothing;
    const hasFilter = Object.values(this.#query()).some((value) => value !== "");
    return hasFilter
      ? html`<p class="empty">No task matches. <a href=${linkTo("tasks")}>Clear the filters</a></p>`
      : html`<p class="empty">No tasks yet. <a href=${linkTo("new")}>Dispatch one</a></p>`;
  }
}

const rowHeight = (): number => (narrow.matches ? NARROW_ROW_HEIGHT : ROW_HEIGHT);

customElements.define("bridge-tasks", Tasks);
