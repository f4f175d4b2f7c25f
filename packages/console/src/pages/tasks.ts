import { html, nothing, type PropertyValues, type TemplateResult } from "lit";
import { classMap } from "lit/directives/class-map.js";
import { live } from "lit/directives/live.js";
import { repeat } from "lit/directives/repeat.js";
import { ApiError } from "../api.ts";
import { PageElement } from "../element.ts";
import { showHidden } from "../format.ts";
import { listPages } from "../live/list-pages.ts";
import { poll } from "../live/poll.ts";
import { assignSlots } from "../live/row-slots.ts";
import { serverNow } from "../live/server-clock.ts";
import { createTaskTable, type Row } from "../live/task-table.ts";
import { errorNote } from "../parts/badges.ts";
import { isCouncil } from "../parts/council-fields.ts";
import { emptyState } from "../parts/empty-state.ts";
import { openRow } from "../parts/open-row.ts";
import type { TaskFilters } from "../parts/task-filters.ts";
import "../parts/task-filters.ts";
import { taskCells, taskColumns } from "../parts/task-row.ts";
import "../parts/task-views-bar.ts";
import { ListChecks, SearchX } from "lucide";
import { linkTo, navigate } from "../router.ts";
import { hasEnded } from "../task-state.ts";
import { listsChildren, normalizeQuery, toTaskQuery } from "../task-views.ts";

const FIRST_PAGE = 100;
const NEXT_PAGE = 200;
/** Rows that are rendered above and below the visible ones. */
const MARGIN_ROWS = 4;
/** Distance to the end of the loaded rows at which the next page is requested. */
const LOAD_AHEAD_ROWS = 60;
const CONCURRENT_CANCELS = 4;
/** Heights of a row in the style sheet. */
const ROW_HEIGHT = 36;
const NARROW_ROW_HEIGHT = 82;
/** An unknown task appears after at most this time. */
const UNKNOWN_TASK_MS = 500;
/** Child tasks that are listed below a row: this many pages of the maximum length. */
const CHILD_PAGES = 5;
/** The id has a column if the title keeps this many pixels. */
const MIN_TITLE_PX = 220;
/** How often the durations of running tasks grow. */
const TICK_MS = 1000;

/** Widths in the style sheet: from which width of the window on the navigation is at the side, and with the margins of the page. */
const SIDEBAR_PX = { from: 1000, width: 280 };
/** The search box with the buttons, and a filter. */
const ROW_PX = { without: 540, filter: 128 };

const narrow = matchMedia("(max-width: 760px)");

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
  #ticker: ReturnType<typeof setInterval> | undefined;
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
    this.#ticker = setInterval(() => this.#tick(), TICK_MS);
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
    clearInterval(this.#ticker);
    this.#unsubscribe();
  }

  #tick(): void {
    const { first, last } = this.#rendered;
    if (this.#table.list(first, last).some(({ state }) => state === "running")) this.requestUpdate();
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

  #query(): Record<string, string> {
    return toTaskQuery(this.route.query, serverNow());
  }

  async #loadFirst(signal: AbortSignal): Promise<boolean> {
    const table = this.#table;
    const generation = this.#generation;
    const mark = table.begin();
    try {
      const page = await this.context.api.list<Row>("/api/v2/tasks", { ...this.#query(), limit: FIRST_PAGE }, { signal });
      const isFirst = table.length === 0;
      table.applyFirst(mark, page.data, page.meta.nextCursor !== null);
      await Promise.all(table.opened.map((taskId) => this.#loadChildren(taskId, signal)));
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

  /** Lists the child tasks of a row, and later those that it starts in the meantime. */
  async #loadChildren(taskId: string, signal: AbortSignal): Promise<void> {
    const table = this.#table;
    const mark = table.begin();
    const options = { pages: CHILD_PAGES, pageLength: NEXT_PAGE, signal };
    try {
      const { data } = await listPages<Row>(this.context.api, "/api/v2/tasks", { parentTaskId: taskId }, options);
      table.showChildren(mark, taskId, data.toReversed());
    } catch (error) {
      table.abandon(mark);
      throw error;
    }
  }

  #toggleChildren(taskId: string): void {
    if (this.#table.isOpen(taskId)) this.#table.hideChildren(taskId);
    else
      void this.#loadChildren(taskId, new AbortController().signal)
        .catch((error: unknown) => {
          this.#error = error instanceof ApiError ? error : null;
        })
        .finally(() => this.requestUpdate());
    this.requestUpdate();
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

  #setQuery = (query: URLSearchParams): void => {
    const text = query.toString();
    navigate(linkTo(text === "" ? "tasks" : `tasks?${text}`), { replace: true });
  };

  override onKey(key: string): boolean {
    const { length } = this.#table;
    if (key === "/") {
      this.querySelector<TaskFilters>("bridge-task-filters")?.focus();
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
    this.#placeIds();
    if (this.#hasMore && this.#rendered.last + LOAD_AHEAD_ROWS > this.#table.length) void this.#loadMore();
  }

  /** Gives the ids a column if the titles keep enough room. */
  #placeIds(): void {
    const table = this.querySelector<HTMLElement>("[role=table]");
    const [name, id] = ["name", "id"].map((kind) => this.querySelector(`.heading > .${kind}`)?.getBoundingClientRect().width ?? 0);
    if (table === null || name === undefined || id === undefined) return;
    const idPx = this.querySelector(".id-probe")?.getBoundingClientRect().width ?? 0;
    const hasRoom = name + id - idPx >= MIN_TITLE_PX;
    table.classList.toggle("with-ids", hasRoom);
    table.style.setProperty("--id-track", hasRoom ? `${idPx}px` : "");
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
      <bridge-task-views .context=${this.context} .query=${this.route.query}></bridge-task-views>
      <bridge-task-filters
        .context=${this.context} .query=${this.route.query} .inRow=${filtersInRow()} .onQuery=${this.#setQuery}
      ></bridge-task-filters>
      ${errorNote(this.#poll.error ?? this.#error)} ${this.#renderSelection()}
      ${this.#table.length === 0 ? this.#renderEmpty() : nothing}
      <div role="table" aria-label="Tasks" aria-rowcount=${this.#hasMore ? -1 : this.#table.length + 1} ?hidden=${this.#table.length === 0}>
        <div role="rowgroup">
          <div role="row" class="task-row heading" aria-rowindex="1">
            ${taskColumns.map(({ name, kind }) => html`<span role="columnheader" class=${kind}>${name}</span>`)}
          </div>
        </div>
        <span class="id-probe" aria-hidden="true"></span>
        <div role="rowgroup" class="window" @click=${openRow}>
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
    const level = this.#table.levelAt(index);
    return html`<div role="row" class="task-row ${classMap({ child: level > 0, deep: level > 1 })}" aria-rowindex=${index + 2} data-index=${index} data-task=${row.taskId}>
      <span role="cell" class="select"
        ><label
          ><input
            type="checkbox" aria-label="Select ${row.taskId}" .checked=${live(this.#selected.has(row.taskId))}
            ?disabled=${hasEnded(row)} @change=${() => this.#toggle(row.taskId)} /></label
      ></span>
      ${taskCells(row, now, { isListedAlone: level === 0, children: this.#renderDisclosure(row) })}
    </div>`;
  }

  /** The button that lists the child tasks of a row below it. Those of a council are its answers. */
  #renderDisclosure({ taskId, provider, childCount, title }: Row): TemplateResult | typeof nothing {
    if (childCount === 0 || childCount === undefined) return nothing;
    const adapter = this.context.attention.state.adapters.find((other) => other.provider === provider);
    const noun = isCouncil(adapter) ? "answer" : "subtask";
    const isOpen = this.#table.isOpen(taskId);
    return html`<button class="disclosure" aria-expanded=${isOpen} @click=${() => this.#toggleChildren(taskId)}>
      <span aria-hidden="true">${isOpen ? "▾" : "▸"}</span> ${childCount} <span class="word">${noun}${childCount === 1 ? "" : "s"}</span>
      <span class="visually-hidden">of ${showHidden(title ?? taskId)}</span>
    </button>`;
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
    const { query } = this.route;
    if (normalizeQuery(query) === "")
      return emptyState(ListChecks, "No tasks yet.", html`<a class="button" href=${linkTo("new")}>Dispatch one</a>`);
    const withChildren = new URLSearchParams([...query, ["children", "all"]]);
    return emptyState(
      SearchX,
      "No task matches.",
      html`<a class="button" href=${linkTo("tasks")}>Clear the filters</a>
        ${listsChildren(query) ? nothing : html`<a class="button" href=${linkTo(`tasks?${withChildren}`)}>Search child tasks, too</a>`}`,
    );
  }
}

/** How many filters have room between the search box and the buttons. */
function filtersInRow(): number {
  const room = innerWidth - (innerWidth < SIDEBAR_PX.from ? 0 : SIDEBAR_PX.width) - ROW_PX.without;
  return narrow.matches ? 0 : Math.max(0, Math.min(5, Math.floor(room / ROW_PX.filter)));
}
const rowHeight = (): number => (narrow.matches ? NARROW_ROW_HEIGHT : ROW_HEIGHT);

customElements.define("bridge-tasks", Tasks);
