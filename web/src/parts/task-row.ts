import type { ListedTask } from "bridge-client";
import { html, nothing, type TemplateResult } from "lit";
import { formatCost, formatRunTime, showHidden } from "../format.ts";
import { linkTo, taskLink } from "../router.ts";
import { explainEnd, findActivity, hasEnded } from "../task-state.ts";
import { activityBadge, age, callbackBadge } from "./badges.ts";

/** The columns of the list, in the order of the cells. The style sheet has their widths. */
export const taskColumns: readonly { name: string; kind: string }[] = [
  { name: "Select", kind: "select" },
  { name: "State", kind: "state" },
  { name: "Task", kind: "name" },
  { name: "Agent", kind: "agent" },
  { name: "Adapter", kind: "provider" },
  { name: "Started", kind: "started number" },
  { name: "Duration", kind: "duration number" },
  { name: "Last event", kind: "last number" },
  { name: "Cost", kind: "cost number" },
  { name: "Callback", kind: "delivery" },
];

/** The cells of a task after the one that selects it. */
export const taskCells = (row: ListedTask, now: number): TemplateResult => html`
  <span role="cell" class="state">${activityBadge(findActivity(row, now))}</span>
  <span role="cell" class="name"
    ><a href=${taskLink(row.taskId)}>${showHidden(row.title ?? "")} <span class="detail">${row.taskId}${explainEnd(row)}</span></a>${renderLabels(row)}</span
  >
  <span role="cell" class="agent">${row.agentId}</span>
  <span role="cell" class="provider">${row.provider}</span>
  <span role="cell" class="started number">${age(row.startedAt ?? row.createdAt, now)}</span>
  <span role="cell" class="duration number">${renderDuration(row, now)}</span>
  <span role="cell" class="last number">${age(row.lastProgressAt, now)}</span>
  <span role="cell" class="cost number">${hasEnded(row) ? formatCost(row.costUsd) : nothing}</span>
  <span role="cell" class="delivery">${callbackBadge(row.callback)}</span>
`;

function renderLabels({ labels }: ListedTask): TemplateResult | typeof nothing {
  const entries = Object.entries(labels);
  if (entries.length === 0) return nothing;
  const texts = entries.map(([name, value]) => `${name}=${value}`);
  return html`<span class="labels"
    >${texts.map((text) => html`<a class="chip" href=${linkTo(`tasks?${new URLSearchParams({ label: text })}`)}>${showHidden(text)}</a>`)}</span
  >`;
}

/** The duration of a task; that of a running one grows. */
function renderDuration({ startedAt, finishedAt, state }: ListedTask, now: number): string | typeof nothing {
  if (startedAt === null || (finishedAt === null && state !== "running")) return nothing;
  const start = Date.parse(startedAt);
  return finishedAt === null ? formatRunTime(now - start) : formatRunTime(Date.parse(finishedAt) - start);
}
