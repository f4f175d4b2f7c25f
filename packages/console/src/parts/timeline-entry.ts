import type { ListedTask } from "bridge-client";
import { html, nothing, type TemplateResult } from "lit";
import { formatDuration, showHidden } from "../format.ts";
import { taskLink } from "../router.ts";
import type { ConsoleContext } from "../session.ts";
import { findActivity, hasExpired } from "../task-state.ts";
import type { Entry, TextEntry, ToolCall } from "../timeline.ts";
import { describeGroup, describeProgress, isOpen, nameChild, startOf, type TimelineRow } from "../timeline-rows.ts";
import { activityBadge, badge } from "./badges.ts";
import "./call.ts";
import { countdown } from "./countdown.ts";
import "./decision.ts";
import { type Axis, lane } from "./lane.ts";
import { markdownText } from "./markdown-text.ts";
import type { ShownText } from "./task-result.ts";

/** What each row is rendered with. */
export interface RowOptions {
  axis: Axis;
  now: number;
  isRunning: boolean;
  /** The text of the task that the page shows above. */
  shown: ShownText | null;
  /** The entry that the runtime may still extend; undefined for none. */
  growing: Entry | undefined;
  /** Whether all tool calls are open. */
  isForced: boolean;
  context: ConsoleContext;
}

/** Shows an entry of the timeline in a row. */
export function timelineEntry(entry: TimelineRow["entry"], options: RowOptions): TemplateResult {
  const { axis, isRunning, isForced, context } = options;
  const since = formatOffset(startOf(entry) - axis.start);
  const offset = html`<span class="offset">${since}</span>`;
  switch (entry.kind) {
    case "text":
      return html`${offset}${renderText(entry, options)}${renderModelTime(entry, axis)}`;
    case "progress":
      return html`${offset}<p class="progress">${showHidden(describeProgress(entry.data))}</p>`;
    case "group":
      if (entry.entries.length === 1)
        return html`${offset}<p class="progress">${showHidden(describeProgress(entry.entries[0]?.data ?? {}))}</p>`;
      return html`${offset}<details class="progress">
          <summary>${showHidden(describeGroup(entry))}</summary>
          <ul>${entry.entries.map(({ data }) => html`<li>${showHidden(describeProgress(data))}</li>`)}</ul>
        </details>`;
    case "child":
      return html`${offset}${renderChild(entry.task, options)}`;
    case "tool":
      return html`<bridge-call
          .call=${entry} .offset=${since} .axis=${axis} .now=${isOpen(entry) ? options.now : 0} .isRunning=${isRunning}
          .revision=${`${entry.completedAt}${entry.isTruncated}`} .isForced=${isForced}
        ></bridge-call>
        ${renderApproval(entry, context, options)}`;
  }
}

function renderText(entry: TextEntry, { isRunning, shown, growing }: RowOptions): TemplateResult {
  if (entry.isDiscarded) return html`<p class="hint">The runtime discarded ${entry.text.length} characters of text.</p>`;
  if (shown !== null && entry.text.trim() === shown.text) return html`<p class="hint">${shown.note}</p>`;
  return html`<div class="answer">${markdownText(entry.text, { level: 4, isComplete: !isRunning || entry !== growing })}</div>`;
}

/** Shows how long the model worked before its text. */
function renderModelTime({ at, since }: TextEntry, axis: Axis): TemplateResult {
  const [from, to] = [since === null ? axis.start : Date.parse(since), Date.parse(at)];
  return lane(axis, from, to, { label: `Model: ${formatDuration(to - from)}`, kind: "model" });
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
  return html`<span class="line" title="${showHidden(name)} ${showHidden(detail)}"
      >${task.state === "completed" ? "↳" : activityBadge(findActivity(task, now))} <a href=${taskLink(task.taskId)}>${showHidden(name)}</a> <span class="detail">${showHidden(detail)}</span></span
    >
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
    <bridge-decision
      .approvalId=${approval.approvalId} .kind=${approval.kind} .input=${call.input} .isOver=${hasExpired(approval, now)} .expiresAt=${approval.expiresAt}
      .context=${context}
    ></bridge-decision>
  </div>`;
}
