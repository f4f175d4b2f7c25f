import type { Task, TaskRepository } from "bridge-client";
import { html, nothing, type TemplateResult } from "lit";
import { BridgeElement } from "../element.ts";
import { formatCount, showHidden } from "../format.ts";
import { curlGet, quoteForShell } from "../shell-quote.ts";
import { hasEnded } from "../task-state.ts";
import { copyButton } from "./copy-button.ts";

/**
 * What a task has changed in its work tree of a repository, and the commands that get it. Loaded when it is needed, because most tasks have
 * no work tree.
 */
class TaskChanges extends BridgeElement {
  static override properties = { task: { attribute: false } };
  declare task: Task & { repository: TaskRepository };

  protected override render(): TemplateResult {
    const { taskId, repository } = this.task;
    const { baseCommit, headCommit, commits } = repository;
    return html`<section aria-labelledby="changes">
      <h2 id="changes">Changes</h2>
      ${hasEnded(this.task) ? renderOutcome(repository) : html`<p class="hint">${describeStart(baseCommit)}</p>`}
      ${headCommit === null || commits === 0 ? nothing : renderCommands(taskId)}
    </section>`;
  }
}

const describeStart = (baseCommit: string | null): TemplateResult =>
  baseCommit === null
    ? html`The commit from which the task starts is not known yet.`
    : html`The task starts from the commit <code>${baseCommit.slice(0, 12)}</code>. Its changes are stored when it ends.`;

function renderOutcome(repository: TaskRepository): TemplateResult {
  const { branch, baseCommit, headCommit, pushed, pushError, error } = repository;
  return html`
    ${error === null ? nothing : html`<p class="note error" role="alert">The changes are not stored completely. ${showHidden(error)}</p>`}
    ${pushError === null ? nothing : html`<p class="note warning">The branch was not pushed. ${showHidden(pushError)}</p>`}
    ${
      baseCommit === null
        ? html`<p class="empty">The task ended before it had a work tree.</p>`
        : html`<p>
            ${describeCounts(repository)} on the branch <code>${showHidden(branch)}</code>, from ${renderCommit(baseCommit)}
            ${headCommit === null ? nothing : html`to ${renderCommit(headCommit)}`}.
            ${headCommit === null && error === null ? html`The changes are not kept (<code>keep: none</code>).` : nothing} ${pushed === true ? "The branch is pushed." : nothing}
          </p>`
    }
  `;
}

const renderCommit = (commit: string): TemplateResult => html`<code title=${commit}>${commit.slice(0, 12)}</code>`;

function describeCounts({ commits, files, insertions, deletions }: TaskRepository): string {
  if (commits === 0) return "No changes";
  const count = (number: number | null, noun: string): string => `${formatCount(number ?? 0)} ${noun}${number === 1 ? "" : "s"}`;
  return `${count(commits, "commit")}, ${count(files, "file")}, +${formatCount(insertions ?? 0)} −${formatCount(deletions ?? 0)}`;
}

/** Both commands are for a clone of the repository. */
function renderCommands(taskId: string): TemplateResult {
  const apply = `brg apply ${quoteForShell(taskId)}`;
  const pipe = `${curlGet(`/api/v2/tasks/${encodeURIComponent(taskId)}/patch`)} |\n  git am --3way --keep-cr --keep-non-patch`;
  return html`<details>
    <summary>Commands that apply the commits to your clone</summary>
    ${[apply, pipe].map((command) => html`<pre tabindex="0">${showHidden(command)}</pre>${copyButton(command)}`)}
  </details>`;
}

customElements.define("bridge-task-changes", TaskChanges);
