import { html, nothing, type TemplateResult } from "lit";
import { guard } from "lit/directives/guard.js";
import { repeat } from "lit/directives/repeat.js";
import { BridgeElement } from "../element.ts";
import { firstLine, formatDuration, formatTime, formatValue, showHidden } from "../format.ts";
import type { ConsoleContext } from "../session.ts";
import type { Entry, Timeline, ToolCall, Turn } from "../timeline.ts";
import { badge } from "./badges.ts";
import "./decision.ts";
import { inputView } from "./input-view.ts";
import { longText } from "./long-text.ts";
import { markdownText } from "./markdown-text.ts";

const MINUTE_MS = 60_000;

/** What the turns are rendered with. */
interface TurnOptions {
  timeline: Timeline;
  /** How many entries are shown: the last ones. */
  shown: number;
  context: ConsoleContext;
  isRunning: boolean;
  now: number;
}

/** Shows the turns of a task, the latest first, so that what happens now is visible without scrolling. */
export function renderTurns(options: TurnOptions): TemplateResult {
  const { timeline, shown, isRunning, now } = options;
  if (timeline.turns.length === 0) return html`<p class="empty">No text and no tool calls${isRunning ? " yet" : ""}.</p>`;
  return html`<ol class="turns">
    ${repeat(
      listShown(timeline.turns, shown),
      ({ turn }) => turn.number,
      ({ turn, entries }) => {
        // Only what still runs shows how long it takes.
        const shownAt = isRunning && entries.some(isOpen) ? now : Math.floor(now / MINUTE_MS);
        return html`<li>${guard([turn, turn.revision, entries.length, isRunning, turn === timeline.turns.at(-1), shownAt, timeline.marked], () => renderTurn(turn, entries, options))}</li>`;
      },
    )}
  </ol>`;
}

/** Returns the turns of the last entries, the latest first. Of the first of them, some entries may be left out. */
function listShown(turns: readonly Turn[], shown: number): { turn: Turn; entries: readonly Entry[] }[] {
  const listed: { turn: Turn; entries: readonly Entry[] }[] = [];
  let left = shown;
  for (let index = turns.length - 1; index >= 0 && left > 0; index -= 1) {
    const turn = turns[index] as Turn;
    const entries = turn.entries.slice(-left);
    left -= entries.length;
    listed.push({ turn, entries });
  }
  return listed;
}

const isOpen = (entry: Entry): boolean =>
  entry.kind === "tool" && (entry.completedAt === null || (entry.approval !== null && entry.approval.decision === null));

function renderTurn(turn: Turn, entries: readonly Entry[], options: TurnOptions): TemplateResult {
  const { timeline, now } = options;
  return html`<h3>Turn ${turn.number} <span class="hint">${formatTime(turn.startedAt, now)}</span></h3>
    ${entries.length < turn.entries.length ? html`<p class="hint">Its first entries are not shown.</p>` : nothing}
    ${entries.map((entry) => (entry === timeline.marked ? html`<div class="marked">${renderEntry(entry, options)}</div>` : renderEntry(entry, options)))}`;
}

function renderEntry(entry: Entry, { timeline, context, isRunning, now }: TurnOptions): TemplateResult {
  switch (entry.kind) {
    case "text":
      return entry.isDiscarded
        ? html`<p class="hint">The runtime discarded ${entry.text.length} characters of text.</p>`
        : html`<div class="answer">${markdownText(entry.text, { level: 4, isComplete: !isRunning || !isLast(entry, timeline) })}</div>`;
    case "progress":
      return html`<p class="progress">${showHidden(firstLine(formatValue(entry.data), 300))}</p>`;
    case "tool":
      return renderCall(entry, { context, isRunning, now });
  }
}

/** The text of the last entry can still grow. */
const isLast = (entry: Entry, { turns }: Timeline): boolean => turns.at(-1)?.entries.at(-1) === entry;

function renderCall(call: ToolCall, { context, isRunning, now }: Pick<TurnOptions, "context" | "isRunning" | "now">): TemplateResult {
  const { approval } = call;
  const waits = approval !== null && approval.decision === null && isRunning;
  return html`<div class="call ${call.isError ? "is-error" : ""}">
    <bridge-call .call=${call} .revision=${`${call.completedAt}${call.isTruncated}`} .summary=${describeCall(call, isRunning, now)}></bridge-call>
    ${
      approval === null || approval.decision === null
        ? nothing
        : html`<p class="hint">
            ${approval.decision === "approve" ? "Approved" : "Rejected"} by ${approval.by}${approval.reason === null ? "" : `: ${showHidden(approval.reason)}`}
          </p>`
    }
    ${
      waits
        ? html`<div class="waiting">
            <p>${badge("approval", "!", "needs approval")} ${countdown(approval.expiresAt, now)}</p>
            <bridge-decision .approvalId=${approval.approvalId} .input=${call.input} .context=${context}></bridge-decision>
          </div>`
        : nothing
    }
  </div>`;
}

/** Shows how long a tool call still waits before Bridge rejects it. */
export function countdown(expiresAt: string | null, now: number): TemplateResult {
  if (expiresAt === null) return html`<span class="countdown">waits without a time limit</span>`;
  const leftMs = Date.parse(expiresAt) - now;
  return leftMs <= 0
    ? html`<span class="countdown">expired</span>`
    : html`<span class="countdown">rejected automatically in ${formatDuration(Math.ceil(leftMs / 1000) * 1000)}</span>`;
}

function describeCall(call: ToolCall, isRunning: boolean, now: number): string {
  if (call.completedAt !== null) return formatDuration(Date.parse(call.completedAt) - Date.parse(call.invokedAt));
  return isRunning ? `running for ${formatDuration(now - Date.parse(call.invokedAt))}` : "no result";
}

/** A tool call. Its input and output are rendered when it is opened. */
class Call extends BridgeElement {
  static override properties = { call: { attribute: false }, revision: { attribute: false }, summary: { attribute: false } };
  declare call: ToolCall;
  /** Changes with the call, which is the same object. */
  declare revision: string;
  declare summary: string;
  #isOpen = false;

  protected override render(): TemplateResult {
    const { toolName, input, isError, completedAt } = this.call;
    return html`<details @toggle=${this.#onToggle}>
      <summary>
        <code>${showHidden(toolName)}</code> <span class="input">${showHidden(firstLine(formatValue(input)))}</span>
        ${isError ? badge("failed", "✕", "error") : nothing} <span class="time ${completedAt === null ? "open" : ""}">${this.summary}</span>
      </summary>
      ${this.#isOpen ? this.#renderBody() : nothing}
    </details>`;
  }

  #onToggle(event: ToggleEvent): void {
    this.#isOpen = event.newState === "open";
    this.requestUpdate();
  }

  #renderBody(): TemplateResult {
    const { input, output, completedAt, isTruncated } = this.call;
    return html`
      ${isTruncated ? html`<p class="note warning">Bridge cut this call, because it is longer than an event may be.</p>` : nothing}
      <h4>Input</h4>
      ${inputView(input)}
      ${completedAt === null ? nothing : html`<h4>Output</h4>${longText(output)}`}
    `;
  }
}

customElements.define("bridge-call", Call);
