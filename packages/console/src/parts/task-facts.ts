import type { Task } from "bridge-client";
import { html, nothing, type TemplateResult } from "lit";
import { firstLine, formatCost, formatCount, formatDuration, formatValue, showHidden } from "../format.ts";
import { linkTo, taskLink } from "../router.ts";
import { hasEnded } from "../task-state.ts";
import { describeAttempts } from "./attempts.ts";
import { ago, callbackBadge, timeOf } from "./badges.ts";

/** Shows the times, the cost and the tokens of a task. */
export function taskFigures(task: Task, now: number): TemplateResult {
  const { createdAt, startedAt, finishedAt } = task;
  const end = finishedAt === null ? now : Date.parse(finishedAt);
  const figures: [string, unknown][] = [
    ["Started", startedAt === null ? "not yet" : html`${timeOf(startedAt, now)} <span class="detail">(${ago(startedAt, now)})</span>`],
    ["Duration", startedAt === null ? "" : formatDuration(end - Date.parse(startedAt))],
    ["Queue wait", formatDuration((startedAt === null ? end : Date.parse(startedAt)) - Date.parse(createdAt))],
    ["Cost", describeCost(task)],
    ["Tokens", describeTokens(task)],
  ];
  return html`<dl class="task-figures">${figures.map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>`;
}

/** Shows the cost of a task so far, and where it comes from. */
function describeCost(task: Task): unknown {
  const { costUsd, costSource } = task;
  if (costUsd === null) return hasEnded(task) ? "?" : "";
  const notes = [costSource === "priced" ? "computed from prices" : "reported by the runtime", ...(hasEnded(task) ? [] : ["so far"])];
  return html`${formatCost(costUsd)} <span class="detail">(${notes.join(", ")})</span>`;
}

function describeTokens(task: Task): unknown {
  const { usage } = task;
  if (usage === null) return hasEnded(task) ? "?" : "";
  return `${formatCount(usage.inputTokens)} in, ${formatCount(usage.outputTokens)} out`;
}

/** Shows the adapter of an attempt, and how the attempt ended. */
function renderAttempt({ provider, startedAt, errorCode, reason }: Task["attempts"][number]): TemplateResult {
  const end = errorCode ?? (startedAt === null ? "skipped" : "");
  return html`<span class="chip" title=${showHidden(reason ?? "")}>${provider}${end === "" ? nothing : ` · ${end}`}</span> `;
}

/** Shows what a task belongs to: its agent, adapter, labels, callback, parent and node. */
export function taskFacts(task: Task, now: number): TemplateResult {
  const { result, callback } = task;
  const labels = Object.entries(task.labels);
  const facts: [string, unknown][] = [
    ["Agent", html`<a href=${linkTo(`tasks?agentId=${encodeURIComponent(task.agentId)}`)}>${task.agentId}</a>`],
    [
      "Adapter",
      html`<a href=${linkTo(`adapters#${encodeURIComponent(task.provider)}`)}>${task.provider}</a>${result === null ? nothing : ` · ${result.connection}`}`,
    ],
    ["Tried", task.attempts.length === 0 ? null : task.attempts.map(renderAttempt)],
    ["Model", task.model ?? (result === null ? null : "?")],
    [
      "Labels",
      labels.length === 0
        ? null
        : labels.map(([name, value]) => {
            const label = `${name}=${value}`;
            return html`<a class="chip" href=${linkTo(`tasks?label=${encodeURIComponent(label)}`)}>${showHidden(label)}</a> `;
          }),
    ],
    ["Created", timeOf(task.createdAt, now)],
    ["Ended", task.finishedAt === null ? null : timeOf(task.finishedAt, now)],
    ["Parent", task.parentTaskId === null ? null : html`<a href=${taskLink(task.parentTaskId)}>${showHidden(task.parentTaskId)}</a>`],
    ["Node", task.node],
    ["Repository", task.repository === null ? null : html`<code>${showHidden(task.repository.name)}</code>`],
    ["Branch", task.repository === null ? null : html`<code>${showHidden(task.repository.branch)}</code>`],
    [
      "Callback",
      callback === null
        ? null
        : html`${callbackBadge(callback)} ${showHidden(callback.url)}
            <span class="detail">${hasEnded(task) ? describeAttempts(callback, now) : "starts when the task ends"}</span>`,
    ],
    ["Metadata", task.metadata === null ? null : html`<code>${showHidden(firstLine(formatValue(task.metadata), 400))}</code>`],
  ];
  return html`<dl class="facts">
    ${facts.filter(([, value]) => value !== null).map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}
  </dl>`;
}
