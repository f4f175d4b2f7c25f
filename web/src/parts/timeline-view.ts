import type { ListedTask, Task } from "bridge-client";
import { html, nothing, type PropertyValues, type TemplateResult } from "lit";
import { guard } from "lit/directives/guard.js";
import { repeat } from "lit/directives/repeat.js";
import { BridgeElement } from "../element.ts";
import { formatDuration, formatTime, showHidden } from "../format.ts";
import { taskLink } from "../router.ts";
import type { ConsoleContext } from "../session.ts";
import { findActivity, hasEnded, hasExpired } from "../task-state.ts";
import type { Timeline, ToolCall, Turn } from "../timeline.ts";
import {
  axisLength,
  describeProgress,
  isOpen,
  listRows,
  nameChild,
  type RowFilter,
  rowFilters,
  startOf,
  type TimelineRow,
} from "../timeline-rows.ts";
import { activityBadge, badge } from "./badges.ts";
import "./call.ts";
import { countdown } from "./countdown.ts";
import "./decision.ts";
import { type Axis, lane } from "./lane.ts";
import { markdownText } from "./markdown-text.ts";
import { minimap } from "./minimap.ts";

const MINUTE_MS = 60_000;
/** Rows that are rendered at first, and that each button adds. */
const PAGE_ROWS = 100;
/** Rows before a row that a person jumps to. */
const ROWS_BEFORE = 5;
/** A timeline with fewer rows fits on a few screens and needs no overview. */
const MIN_MINIMAP_ROWS = 40;

/** What each row is rendered with. */
interface RowOptions {
  axis: Axis;
  now: number;
  isRunning: boolean;
  /** The answer of the task, which the page shows above. */
  answer: string | null;
}

/** The timeline of a task: text, tool calls and child tasks on a common time axis. That of an ended task begins with its start. */
class TimelineView extends BridgeElement {
  static override properties = {
    ...{ timeline: { attribute: false }, task: { attribute: false }, childTasks: { attribute: false } },
    ...{ context: { attribute: false }, now: { attribute: false }, count: { attribute: false } },
  };
  declare timeline: Timeline;
  /** Number of events of the timeline, which is always the same object. */
  declare count: number;
  declare task: Task;
  declare childTasks: readonly ListedTask[];
  declare context: ConsoleContext;
  declare now: number;
  #filter: RowFilter = "all";
  /** Null until a person has chosen: the newest first while the task runs, so that what happens now is visible. */
  #isNewestFirst: boolean | null = null;
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
    const index = this.#rows().findIndex(({ entry }) => entry === marked);
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
    const rows = this.#filter === "all" ? all : all.filter(({ entry }) => rowFilters[this.#filter](entry));
    const isNewestFirst = this.#isNewestFirst ?? isRunning;
    const first = this.#first ?? (isNewestFirst ? Math.max(0, rows.length - this.#size) : 0);
    const last = this.#first === null && isNewestFirst ? rows.length : Math.min(rows.length, first + this.#size);
    const earlier = first === 0 ? nothing : this.#renderMore("earlier", first, () => this.#extendBack(first));
    const later = last === rows.length ? nothing : this.#renderMore("later", rows.length - last, () => this.#extend(first));
    return html`
      ${this.#renderTools(all, isNewestFirst)}
      ${
        rows.length < MIN_MINIMAP_ROWS
          ? nothing
          : guard([growthOf(rows.length), axis.length, this.#filter, first], () =>
              minimap(rows, axis, { at: first, onMove: (index) => this.#jumpTo(index) }),
            )
      }
      ${isNewestFirst ? later : earlier}
      ${rows.length === 0 ? html`<p class="empty">Nothing in the timeline matches.</p>` : this.#renderTurns(rows.slice(first, last), axis, isNewestFirst)}
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

  #renderTools(all: readonly TimelineRow[], isNewestFirst: boolean): TemplateResult {
    const choose = (filter: RowFilter): (() => void) =>
      this.#change(() => {
        this.#filter = filter;
        this.#first = null;
        this.#size = PAGE_ROWS;
      });
    return html`<div class="timeline-tools">
      <div role="group" aria-label="Entries">
        ${(Object.keys(rowFilters) as RowFilter[]).map((filter) => {
          const count = all.filter(({ entry }) => rowFilters[filter](entry)).length;
          return html`<button aria-pressed=${filter === this.#filter} @click=${choose(filter)}>${filterNames[filter]} <span class="detail">${count}</span></button>`;
        })}
      </div>
      <button class="plain" aria-pressed=${this.#allOpen} @click=${this.#change(() => {
        this.#allOpen = !this.#allOpen;
      })}>Open all</button>
      <button class="plain" @click=${this.#change(() => {
        this.#isNewestFirst = !isNewestFirst;
        this.#first = null;
      })}>${isNewestFirst ? "Newest first" : "Oldest first"}</button>
    </div>`;
  }

  #renderTurns(rows: readonly TimelineRow[], axis: Axis, isNewestFirst: boolean): TemplateResult {
    const isRunning = !hasEnded(this.task);
    const groups = groupByTurn(rows);
    const options: RowOptions = { axis, now: this.now, isRunning, answer: this.task.result?.output ?? null };
    return html`<div class="axis" aria-hidden="true"><span><span>0 s</span><span>${formatDuration(axis.length)}</span></span></div>
      <ol class="timeline">
        ${repeat(
          isNewestFirst ? groups.toReversed() : groups,
          ({ turn, entries }) => turn?.number ?? `child ${startOf(entries[0] as TimelineRow["entry"])}`,
          ({ turn, entries }) => {
            // Only what still runs shows how long it takes.
            const shownAt = isRunning && entries.some(isOpen) ? this.now : Math.floor(this.now / MINUTE_MS);
            const children = entries.map((entry) => (entry.kind === "child" ? `${entry.task.taskId} ${entry.task.state}` : "")).join();
            const isLast = turn === this.timeline.turns.at(-1);
            const keys = [turn, turn?.revision, entries.length, entries[0], children, isRunning, isLast, shownAt, axis.length];
            const dependencies = [...keys, this.timeline.marked, this.#allOpen, isNewestFirst, options.answer];
            return html`<li>${guard(dependencies, () => this.#renderTurn(turn, isNewestFirst ? entries.toReversed() : entries, options))}</li>`;
          },
        )}
      </ol>`;
  }

  #renderTurn(turn: Turn | null, entries: readonly TimelineRow["entry"][], options: RowOptions): TemplateResult {
    const { marked } = this.timeline;
    const hasHeading = turn !== null && isAnswer(turn);
    return html`${hasHeading ? html`<h3 title=${formatTime(turn.startedAt, options.now)}>Turn ${turn.number}</h3>` : html`<span></span>`}
      <div class="entries">
        ${entries.map((entry) => html`<div class="entry ${entry.kind} ${entry === marked ? "marked" : ""}">${this.#renderEntry(entry, options)}</div>`)}
      </div>`;
  }

  #renderEntry(entry: TimelineRow["entry"], options: RowOptions): TemplateResult {
    const { axis, isRunning, answer } = options;
    const since = formatOffset(startOf(entry) - axis.start);
    const offset = html`<span class="offset">${since}</span>`;
    switch (entry.kind) {
      case "text":
        if (entry.isDiscarded) return html`${offset}<p class="hint">The runtime discarded ${entry.text.length} characters of text.</p>`;
        if (answer !== null && entry.text.trim() === answer.trim())
          return html`${offset}<p class="hint">The answer, which is shown as the result.</p>`;
        return html`${offset}
          <div class="answer">${markdownText(entry.text, { level: 4, isComplete: !isRunning || entry !== this.timeline.turns.at(-1)?.entries.at(-1) })}</div>`;
      case "progress":
        return html`${offset}<p class="progress">${showHidden(describeProgress(entry.data))}</p>`;
      case "child":
        return html`${offset}${renderChild(entry.task, options)}`;
      case "tool":
        return html`<bridge-call
            .call=${entry} .offset=${since} .axis=${axis} .now=${isOpen(entry) ? options.now : 0} .isRunning=${isRunning}
            .revision=${`${entry.completedAt}${entry.isTruncated}`} .isForced=${this.#allOpen}
          ></bridge-call>
          ${renderApproval(entry, this.context, options)}`;
    }
  }
}

const filterNames: Readonly<Record<RowFilter, string>> = { all: "All", errors: "Errors", tools: "Tools", text: "Text" };

/** Progress before the first text or tool call is no answer of a model. */
const isAnswer = ({ entries }: Turn): boolean => entries.some(({ kind }) => kind !== "progress");

const MINIMAP_GROWTH = 1.02;

/** Changes when a number has grown by two percent, so that an overview of thousands of rows is not drawn again for each of them. */
const growthOf = (count: number): number => Math.floor(Math.log(count) / Math.log(MINIMAP_GROWTH));

function groupByTurn(rows: readonly TimelineRow[]): { turn: Turn | null; entries: TimelineRow["entry"][] }[] {
  const groups: { turn: Turn | null; entries: TimelineRow["entry"][] }[] = [];
  for (const { turn, entry } of rows) {
    const last = groups.at(-1);
    if (last !== undefined && last.turn === turn) last.entries.push(entry);
    else groups.push({ turn, entries: [entry] });
  }
  return groups;
}

const SECOND_MS = 1000;

/** Formats the time since the start of the task: `+0.4 s`, `+5:31`, `+1:05:31`. */
function formatOffset(ms: number): string {
  const seconds = Math.max(0, ms) / SECOND_MS;
  if (seconds < 10) return `+${seconds.toFixed(1)} s`;
  const pad = (value: number): string => String(Math.floor(value)).padStart(2, "0");
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor((seconds % 3600) / 60)];
  return hours === 0 ? `+${minutes}:${pad(seconds % 60)}` : `+${hours}:${pad(minutes)}:${pad(seconds % 60)}`;
}

function renderChild(task: ListedTask, { axis, now }: RowOptions): TemplateResult {
  const { name, detail } = nameChild(task);
  const from = startOf({ kind: "child", task });
  const to = task.finishedAt === null ? now : Date.parse(task.finishedAt);
  const duration = task.startedAt === null ? "not started" : formatDuration(to - from);
  return html`<span class="line">${task.state === "completed" ? "↳" : activityBadge(findActivity(task, now))} <a href=${taskLink(task.taskId)}>${showHidden(name)}</a> <span class="detail">${showHidden(detail)}</span></span>
    ${lane(axis, from, task.startedAt === null ? from : to, { label: `Child task: ${duration}`, kind: task.state === "failed" ? "failed" : "child" })}
    <span class="time">${duration}</span>`;
}

function renderApproval(call: ToolCall, context: ConsoleContext, { isRunning, now }: RowOptions): TemplateResult | typeof nothing {
  const { approval } = call;
  if (approval === null) return nothing;
  if (approval.decision !== null)
    return html`<p class="hint decided">
      ${approval.decision === "approve" ? "Approved" : "Rejected"} by ${approval.by}${approval.reason === null ? "" : `: ${showHidden(approval.reason)}`}
    </p>`;
  if (!isRunning) return nothing;
  return html`<div class="waiting">
    <p>${badge("approval", "!", "needs approval")} ${countdown(approval.expiresAt, now)}</p>
    <bridge-decision .approvalId=${approval.approvalId} .input=${call.input} .isOver=${hasExpired(approval, now)} .expiresAt=${approval.expiresAt}
      .context=${context}
    ></bridge-decision>
  </div>`;
}

customElements.define("bridge-timeline", TimelineView);

/** Shows the timeline of a task. */
export const timelineView = (
  timeline: Timeline,
  task: Task,
  children: readonly ListedTask[],
  context: ConsoleContext,
  now: number,
): TemplateResult =>
  html`<bridge-timeline .timeline=${timeline} .count=${timeline.count} .task=${task} .childTasks=${children} .context=${context} .now=${now}></bridge-timeline>`;
