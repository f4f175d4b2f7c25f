import type { ListedTask, Task } from "bridge-client";
import { html, nothing, type PropertyValues, type TemplateResult } from "lit";
import { guard } from "lit/directives/guard.js";
import { repeat } from "lit/directives/repeat.js";
import { BridgeElement } from "../element.ts";
import { formatTime } from "../format.ts";
import type { ConsoleContext } from "../session.ts";
import { hasEnded } from "../task-state.ts";
import type { Timeline, Turn } from "../timeline.ts";
import {
  axisLength,
  isOpen,
  listRows,
  type RowFilter,
  rowFilters,
  showsEntry,
  sortByDuration,
  type TimelineRow,
} from "../timeline-rows.ts";
import { type Axis, axisLines } from "./lane.ts";
import { minimap } from "./minimap.ts";
import type { ShownText } from "./task-result.ts";
import { type RowOptions, timelineEntry } from "./timeline-entry.ts";

const MINUTE_MS = 60_000;
/** Rows that are rendered at first, and that each button adds. */
const PAGE_ROWS = 100;
/** Rows before a row that a person jumps to. */
const ROWS_BEFORE = 5;
/** A timeline with fewer rows fits on a few screens and needs no overview. */
const MIN_MINIMAP_ROWS = 40;

/** In which order the rows are shown. */
type Order = "oldest" | "newest" | "longest";

/** What the timeline of a task shows. */
interface TimelineOptions {
  timeline: Timeline;
  task: Task;
  childTasks: readonly ListedTask[];
  /** The text of the task that the page shows above. */
  shown: ShownText | null;
  context: ConsoleContext;
  now: number;
}

/** The timeline of a task: text, tool calls and child tasks on a common time axis. That of an ended task begins with its start. */
class TimelineView extends BridgeElement {
  static override properties = {
    ...{ timeline: { attribute: false }, task: { attribute: false }, childTasks: { attribute: false } },
    ...{ context: { attribute: false }, now: { attribute: false }, count: { attribute: false }, shown: { attribute: false } },
  };
  declare timeline: Timeline;
  /** Number of events of the timeline, which is always the same object. */
  declare count: number;
  declare task: Task;
  declare childTasks: readonly ListedTask[];
  declare shown: ShownText | null;
  declare context: ConsoleContext;
  declare now: number;
  #filter: RowFilter = "all";
  /** Null until a person has chosen: the newest first while the task runs, so that what happens now is visible. */
  #order: Order | null = null;
  /** Index of the first row shown; null at the beginning, or at the end of a task that runs. */
  #first: number | null = null;
  #size = PAGE_ROWS;
  #allOpen = false;
  #listed: { entryCount: number; childTasks: readonly ListedTask[]; rows: readonly TimelineRow[] } | null = null;
  #hasScrolled = false;

  protected override updated(_changed: PropertyValues): void {
    const { marked } = this.timeline;
    if (marked === null || this.#hasScrolled) return;
    const element = this.querySelector(".marked");
    if (element !== null) {
      this.#hasScrolled = true;
      element.scrollIntoView({ block: "center" });
      return;
    }
    const index = this.#rows().findIndex((row) => showsEntry(row, marked));
    if (index !== -1) this.#jumpTo(index);
  }

  /** The rows of all entries. They are listed again only after another entry or snapshot of the child tasks. */
  #rows(): readonly TimelineRow[] {
    const { entryCount, turns } = this.timeline;
    if (this.#listed?.entryCount !== entryCount || this.#listed.childTasks !== this.childTasks)
      this.#listed = { entryCount, childTasks: this.childTasks, rows: listRows(turns, this.childTasks) };
    return this.#listed.rows;
  }

  #jumpTo(index: number): void {
    this.#first = Math.max(0, index - ROWS_BEFORE);
    this.#size = PAGE_ROWS;
    this.requestUpdate();
  }

  #change(act: () => void): () => void {
    return () => {
      act();
      this.requestUpdate();
    };
  }

  #axis(): Axis {
    const { startedAt, createdAt, finishedAt } = this.task;
    const start = Date.parse(startedAt ?? createdAt);
    const end = finishedAt === null ? this.now : Date.parse(finishedAt);
    return { start, length: axisLength(end - start, { isRunning: !hasEnded(this.task) }) };
  }

  protected override render(): TemplateResult {
    const all = this.#rows();
    const isRunning = !hasEnded(this.task);
    if (all.length === 0) return html`<p class="empty">No text and no tool calls${isRunning ? " yet" : ""}.</p>`;
    const axis = this.#axis();
    const order = this.#order ?? (isRunning ? "newest" : "oldest");
    const matching = this.#filter === "all" ? all : all.filter(({ entry }) => rowFilters[this.#filter](entry));
    const rows = order === "longest" ? sortByDuration(matching, isRunning ? this.now : null) : matching;
    const isNewestFirst = order === "newest";
    const first = this.#first ?? (isNewestFirst ? Math.max(0, rows.length - this.#size) : 0);
    const last = this.#first === null && isNewestFirst ? rows.length : Math.min(rows.length, first + this.#size);
    const [before, after] = order === "longest" ? ["longer", "shorter"] : ["earlier", "later"];
    const earlier = first === 0 ? nothing : this.#renderMore(before, first, () => this.#extendBack(first));
    const later = last === rows.length ? nothing : this.#renderMore(after, rows.length - last, () => this.#extend(first));
    return html`
      ${this.#renderTools(all, order)}
      ${
        rows.length < MIN_MINIMAP_ROWS || order === "longest"
          ? nothing
          : guard([growthOf(rows.length), axis.length, this.#filter, first], () =>
              minimap(rows, axis, { at: first, onMove: (index) => this.#jumpTo(index) }),
            )
      }
      ${isNewestFirst ? later : earlier}
      ${rows.length === 0 ? html`<p class="empty">Nothing in the timeline matches.</p>` : this.#renderTurns(rows.slice(first, last), axis, order)}
      ${isNewestFirst ? earlier : later}
    `;
  }

  #extend(first: number): void {
    this.#first = first;
    this.#size += PAGE_ROWS;
  }

  #extendBack(first: number): void {
    const added = Math.min(PAGE_ROWS, first);
    if (this.#first !== null) this.#first = first - added;
    this.#size += added;
  }

  #renderMore(which: string, count: number, act: () => void): TemplateResult {
    return html`<button class="plain" @click=${this.#change(act)}>Show ${Math.min(PAGE_ROWS, count)} ${which} entries (${count} left)</button>`;
  }

  #renderTools(all: readonly TimelineRow[], order: Order): TemplateResult {
    const choose = (filter: RowFilter): (() => void) =>
      this.#change(() => {
        this.#filter = filter;
        this.#first = null;
        this.#size = PAGE_ROWS;
      });
    const onOrder = (event: Event): void => {
      this.#order = (event.target as HTMLSelectElement).value as Order;
      this.#first = null;
      this.requestUpdate();
    };
    return html`<div class="timeline-tools">
      <div role="group" aria-label="Entries">
        ${(Object.keys(rowFilters) as RowFilter[]).map((filter) => {
          const count = all.filter(({ entry }) => rowFilters[filter](entry)).length;
          if (count === 0) return nothing;
          return html`<button aria-pressed=${filter === this.#filter} @click=${choose(filter)}>${filterNames[filter]} <span class="detail">${count}</span></button>`;
        })}
      </div>
      <button @click=${this.#change(() => {
        this.#allOpen = !this.#allOpen;
      })}>${this.#allOpen ? "Close" : "Open"} all</button>
      <select aria-label="Order" @change=${onOrder}>
        ${(Object.keys(orderNames) as Order[]).map((name) => html`<option value=${name} ?selected=${name === order}>${orderNames[name]}</option>`)}
      </select>
    </div>`;
  }

  #renderTurns(rows: readonly TimelineRow[], axis: Axis, order: Order): TemplateResult {
    const isRunning = !hasEnded(this.task);
    const { timeline, now, shown, context } = this;
    const groups = order === "longest" ? rows.map(({ turn, entry }) => ({ turn, entries: [entry] })) : groupByTurn(rows);
    const growing = timeline.turns.at(-1)?.entries.at(-1);
    const options: RowOptions = { axis, now, isRunning, shown, growing, isForced: this.#allOpen, context };
    return html`<div class="timeline-panel ${groups.some(({ turn }) => turn !== null && isAnswer(turn)) ? "" : "without-turns"}">
      ${guard([axis.length], () => axisLines(axis))}
      <ol class="timeline">
        ${repeat(
          order === "newest" ? groups.toReversed() : groups,
          (group) => keyOf(group, order),
          ({ turn, entries }) => {
            // Only what still runs shows how long it takes.
            const shownAt = isRunning && entries.some(isOpen) ? now : Math.floor(now / MINUTE_MS);
            const children = entries.map((entry) => (entry.kind === "child" ? `${entry.task.taskId} ${entry.task.state}` : "")).join();
            const isLast = turn === timeline.turns.at(-1);
            const keys = [turn, turn?.revision, entries.length, entries[0], children, isRunning, isLast, shownAt, axis.length];
            const dependencies = [...keys, timeline.marked, this.#allOpen, order, shown?.text];
            return html`<li>${guard(dependencies, () => this.#renderTurn(turn, order === "newest" ? entries.toReversed() : entries, options))}</li>`;
          },
        )}
      </ol>
    </div>`;
  }

  #renderTurn(turn: Turn | null, entries: readonly TimelineRow["entry"][], options: RowOptions): TemplateResult {
    const { marked } = this.timeline;
    const hasHeading = turn !== null && isAnswer(turn);
    const isMarked = (entry: TimelineRow["entry"]): boolean => marked !== null && showsEntry({ turn, entry }, marked);
    return html`${hasHeading ? html`<h3 title=${formatTime(turn.startedAt, options.now)}>Turn ${turn.number}</h3>` : html`<span></span>`}
      <div class="entries">
        ${entries.map((entry) => html`<div class="entry ${entry.kind} ${isMarked(entry) ? "marked" : ""}">${timelineEntry(entry, options)}</div>`)}
      </div>`;
  }
}

const filterNames: Readonly<Record<RowFilter, string>> = { all: "All", errors: "Errors", tools: "Tools", text: "Text" };

const orderNames: Readonly<Record<Order, string>> = { oldest: "Oldest first", newest: "Newest first", longest: "Longest first" };

/** Progress before the first text or tool call is no answer of a model. */
const isAnswer = ({ entries }: Turn): boolean => entries.some(({ kind }) => kind !== "progress");

const MINIMAP_GROWTH = 1.02;

/** Changes when a number has grown by two percent, so that an overview of thousands of rows is not drawn again for each of them. */
const growthOf = (count: number): number => Math.floor(Math.log(count) / Math.log(MINIMAP_GROWTH));

/** Rows of the same turn that follow each other. */
interface Group {
  turn: Turn | null;
  entries: TimelineRow["entry"][];
}

function groupByTurn(rows: readonly TimelineRow[]): Group[] {
  const groups: Group[] = [];
  for (const { turn, entry } of rows) {
    const last = groups.at(-1);
    if (last !== undefined && last.turn === turn) last.entries.push(entry);
    else groups.push({ turn, entries: [entry] });
  }
  return groups;
}

/** Identifies the element of a group. A turn has several groups if the longest rows are first. */
function keyOf({ turn, entries: [first] }: Group, order: Order): unknown {
  if (first?.kind === "child" && (order === "longest" || turn === null)) return `child ${first.task.taskId}`;
  return order === "longest" ? first : (turn?.number ?? "start");
}

customElements.define("bridge-timeline", TimelineView);

/** Shows the timeline of a task. */
export const timelineView = ({ timeline, task, childTasks, shown, context, now }: TimelineOptions): TemplateResult =>
  html`<bridge-timeline
    .timeline=${timeline} .count=${timeline.count} .task=${task} .childTasks=${childTasks} .shown=${shown} .context=${context} .now=${now}
  ></bridge-timeline>`;
