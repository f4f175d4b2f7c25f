import { explainTaskError, type Task } from "bridge-client";
import { html, nothing, type TemplateResult } from "lit";
import { Copy } from "lucide";
import { showHidden } from "../format.ts";
import { plainText } from "../plain-text.ts";
import { linkTo, taskLink } from "../router.ts";
import { curlGet, quoteForShell } from "../shell-quote.ts";
import { type Activity, hasEnded } from "../task-state.ts";
import { activityBadge } from "./badges.ts";
import { icon } from "./icon.ts";
import { menu } from "./menu.ts";
import { saveFile } from "./save-file.ts";
import { taskFigures } from "./task-facts.ts";

/** What a person is asked to confirm. */
export type Question = "cancel" | "delete";

/** What the buttons and the menu of a task do. */
export interface TaskActions {
  /** Whether the token can dispatch tasks. */
  mayDispatch: boolean;
  /** What the person is asked; null for nothing. */
  question: Question | null;
  ask(question: Question | null): void;
  confirm(question: Question): void;
  runAgain(): void;
  redeliver(): void;
  copy(text: string, what: string): void;
  togglePlainText(): void;
}

/** Shows the title of a task, its state, its buttons and its figures. */
export function taskHead(task: Task, activity: Activity, actions: TaskActions, now: number): TemplateResult {
  return html`<div class="task-head">
    <p class="crumb">
      <a href=${linkTo("tasks")}>Tasks</a> / <code>${showHidden(task.taskId)}</code>
      <button class="plain small" @click=${() => actions.copy(task.taskId, "id")} aria-label="Copy the id">${icon(Copy)}</button>
    </p>
    <div class="page-head">
      <h1>${showHidden(task.title ?? task.taskId)} ${activityBadge(activity)}</h1>
      <div class="actions">${renderButtons(task, actions)} ${menu("More actions", listItems(task, actions))}</div>
    </div>
    ${taskFigures(task, now)}
  </div>`;
}

function listItems(task: Task, { mayDispatch, ask, copy, togglePlainText }: TaskActions): Parameters<typeof menu>[1] {
  const { taskId } = task;
  return [
    { name: "Copy the link", run: () => copy(taskLink(taskId), "link") },
    { name: "Copy as curl", run: () => copy(curlGet(`/api/v2/tasks/${encodeURIComponent(taskId)}`), "curl command") },
    { name: "Copy as command", run: () => copy(`brg task ${quoteForShell(taskId)}`, "command") },
    {
      name: "Save as JSON",
      run: () => saveFile(new Blob([JSON.stringify(task, null, 2)], { type: "application/json" }), `${taskId}.json`),
    },
    { name: plainText.isOn ? "Show Markdown" : "Show plain text", run: togglePlainText },
    ...(mayDispatch && hasEnded(task) ? [{ name: "Delete …", run: () => ask("delete") }] : []),
  ];
}

const questions: Readonly<Record<Question, string>> = {
  cancel: "Cancel this task and its child tasks?",
  delete: "Delete this task with its events and its callback?",
};

function renderButtons(
  task: Task,
  { mayDispatch, question, ask, confirm, runAgain, redeliver }: TaskActions,
): TemplateResult | typeof nothing {
  if (!mayDispatch) return nothing;
  if (question !== null)
    return html`<span>${questions[question]}</span>
      <button class="danger" @click=${() => confirm(question)}>Yes, ${question}</button>
      <button @click=${() => ask(null)}>No</button>`;
  return html`
    ${hasEnded(task) ? nothing : html`<button class="danger" @click=${() => ask("cancel")}>Cancel</button>`}
    ${task.callback?.state === "dead" ? html`<button @click=${redeliver}>Redeliver the callback</button>` : nothing}
    ${task.state === "completed" ? html`<button @click=${runAgain}>Run again</button>` : nothing}
    ${offersChanges(task) ? nothing : html`<a class="button" href=${linkTo(`new?from=${encodeURIComponent(task.taskId)}`)}>Run again with changes</a>`}
  `;
}

/** Whether the explanation of a failure, which follows, has this button. */
const offersChanges = ({ state, errorCode }: Task): boolean =>
  (state === "failed" || state === "cancelled") && explainTaskError(errorCode ?? state)?.remedies.includes("change_request") === true;
