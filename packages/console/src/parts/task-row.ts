import type { ListedTask } from "bridge-client";
import { html, nothing, type TemplateResult } from "lit";
import { Send } from "lucide";
import { readRole } from "../council.ts";
import { formatCost, formatRunTime, showHidden } from "../format.ts";
import { linkTo, taskLink } from "../router.ts";
import { explainEnd, findActivity, hasEnded } from "../task-state.ts";
import { activityBadge, age, callbackBadge } from "./badges.ts";
import { icon } from "./icon.ts";

/** The columns of the list, in the order of the cells. The style sheet has their widths. */
export const taskColumns: readonly { name: string; kind: string }[] = [
  { name: "Select", kind: "select" },
  { name: "State", kind: "state" },
  { name: "Task", kind: "name" },
  { name: "Id", kind: "id" },
  { name: "Agent", kind: "agent" },
  { name: "Adapter", kind: "provider" },
  { name: "Started", kind: "started number" },
  { name: "Duration", kind: "duration number" },
  { name: "Last event", kind: "last number" },
  { name: "Cost", kind: "cost number" },
  { name: "Callback", kind: "delivery" },
];

/** Characters of an id in its column, as in the style sheet. */
const ID_CHARACTERS = 16;

/** How a row stands in the list. */
export interface RowPlace {
  /** Whether it is not below its parent. */
  isListedAlone: boolean;
  /** The button that lists its child tasks. */
  children: TemplateResult | typeof nothing;
}

/** The cells of a task after the one that selects it. The link contains the id, which is visible there unless it has a column. */
export const taskCells = (row: ListedTask, now: number, { isListedAlone, children }: RowPlace): TemplateResult => html`
  <span role="cell" class="state">${activityBadge(findActivity(row, now))}</span>
  <span role="cell" class="name"
    ><a href=${taskLink(row.taskId)} title=${row.title === null ? row.taskId : readRole(row) === null ? nothing : row.title}
      ><span class="lead"><span class="title">${showHidden(nameRow(row))}</span><span class="detail">${explainEnd(row)}</span></span>
      ${row.title === null ? nothing : html`<span class="detail own-id">${row.taskId}</span>`}</a
    >${renderParent(row, isListedAlone)}${children}${renderLabels(row)}</span
  >
  <span role="cell" class="id" title=${row.taskId}>${renderId(row.taskId)}</span>
  <span role="cell" class="agent" title=${row.agentId}>${row.agentId}</span>
  <span role="cell" class="provider" title=${row.provider}>${row.provider}</span>
  <span role="cell" class="started number">${age(row.startedAt ?? row.createdAt, now)}</span>
  <span role="cell" class="duration number">${renderDuration(row, now)}</span>
  <span role="cell" class="last number">${age(row.lastProgressAt, now)}</span>
  <span role="cell" class="cost number">${hasEnded(row) || row.costUsd !== null ? formatCost(row.costUsd) : nothing}</span>
  <span role="cell" class="delivery" title=${row.callback === null ? nothing : `Callback: ${row.callback.state}`}
    >${row.callback === null ? nothing : html`${icon(Send)}<span class="visually-hidden">callback</span> `}${callbackBadge(row.callback)}</span
  >
`;

/** The role of a child task in a council, whose title is only the beginning of its prompt; the title of another task. */
function nameRow(row: ListedTask): string {
  const role = readRole(row);
  return role === null ? (row.title ?? row.taskId) : `${role.role} · round ${role.round}`;
}

/** An id that is longer than its column has a hidden end, which a selection copies. Of a UUID, the first 8 characters are shown. */
function renderId(taskId: string): TemplateResult | string {
  if (taskId.length <= ID_CHARACTERS) return taskId;
  const shown = /^[\da-f]{8}-[\da-f-]{27}$/.test(taskId) ? 8 : ID_CHARACTERS - 1;
  return html`${taskId.slice(0, shown)}<span class="rest">${taskId.slice(shown)}</span>`;
}

/** A child task that is found by a search names its parent. */
function renderParent({ parentTaskId }: ListedTask, isListedAlone: boolean): TemplateResult | typeof nothing {
  if (parentTaskId === null || !isListedAlone) return nothing;
  return html`<a class="chip parent" href=${taskLink(parentTaskId)}>↳ of ${parentTaskId}</a>`;
}

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
