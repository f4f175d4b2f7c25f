import type { Task, TaskDiff } from "bridge-client";
import { html, nothing, type TemplateResult } from "lit";
import { ApiError } from "../api.ts";
import { type DiffFile, type DiffLine, parseDiff } from "../diff.ts";
import { BridgeElement } from "../element.ts";
import { formatBytes, showHidden } from "../format.ts";
import type { ConsoleContext } from "../session.ts";
import { hasEnded } from "../task-state.ts";
import { codeSpans } from "./code-spans.ts";

const FIRST_LINES = 1_000;
const MORE_LINES = 5_000;
const MAX_LINE_CHARACTERS = 2_000;

const CUTS: Readonly<Record<string, string>> = {
  bytes: "The diff is too long. Its end is missing.",
  time: "git took too long. The end of the diff is missing.",
  unreadable: "git could not read a file or an object. The end of the diff is missing.",
};

/** The diff of a task, which is loaded when it is opened, because git reads the whole work tree for it. */
class TaskDiffPart extends BridgeElement {
  static override properties = { context: { attribute: false }, taskId: { attribute: false }, isStored: { attribute: false } };
  declare context: ConsoleContext;
  declare taskId: string;
  /** Whether the diff is that of stored commits, which do not change. */
  declare isStored: boolean;
  #state: "closed" | "loading" | TaskDiff | ApiError = "closed";
  #shown = FIRST_LINES;

  async #load(): Promise<void> {
    this.#state = "loading";
    this.#shown = FIRST_LINES;
    this.requestUpdate();
    const path = `/api/v2/tasks/${encodeURIComponent(this.taskId)}/diff`;
    this.#state = await this.context.api
      .call<TaskDiff>(path)
      .catch((error: unknown) => (error instanceof ApiError ? error : new ApiError(0, "unreachable", String(error))));
    this.requestUpdate();
  }

  protected override render(): TemplateResult {
    const state = this.#state;
    if (state === "closed") return html`<button @click=${this.#load}>Show the diff</button>`;
    if (state === "loading") return html`<p role="status">Comparing with the commit at the start …</p>`;
    const content =
      state instanceof ApiError
        ? html`<p class="note ${state.code === "invalid_state" ? "info" : "error"}" role="status">${codeSpans(state.message)}</p>`
        : this.#renderDiff(state);
    return html`${content} <button @click=${this.#load}>Compare again</button>`;
  }

  #renderDiff({ commit, directory, diff, diffBase64, truncated, omitted }: TaskDiff): TemplateResult {
    const { files, rest } = parseDiff(diff, this.#shown);
    return html`
      <p class="hint">
        Changes since commit <code>${commit.slice(0, 12)}</code>${directory === "" ? "" : html` in <code>${showHidden(directory)}</code>`}${this.isStored ? "" : ", as the files are now"}.
      </p>
      ${truncated === null ? nothing : html`<p class="note warning">${CUTS[truncated] ?? "The end of the diff is missing."}</p>`}
      ${typeof diffBase64 === "string" ? html`<p class="note info">Bytes that are not UTF-8 are shown as �.</p>` : nothing}
      ${omitted.length === 0 ? nothing : html`<p class="note warning">Too large to be compared: ${showHidden(omitted.join(", "))}</p>`}
      ${diff === "" && truncated === null ? html`<p class="empty">No changes.</p>` : files.map(renderFile)}
      ${rest === null ? nothing : html`<button @click=${this.#showMore}>Show more (${formatBytes(diff.length - rest)} left)</button>`}
    `;
  }

  #showMore(): void {
    this.#shown += MORE_LINES;
    this.requestUpdate();
  }
}

function renderFile({ path, notes, lines }: DiffFile): TemplateResult {
  return html`<div class="diff">
    <h3><code>${showHidden(path)}</code></h3>
    ${notes.map((note) => html`<p class="hint">${showHidden(note)}</p>`)}
    ${lines.length === 0 ? nothing : html`<table aria-label="Changes of ${showHidden(path)}"><tbody>${lines.map(renderLine)}</tbody></table>`}
  </div>`;
}

const SIGNS: Readonly<Record<DiffLine["kind"], string>> = { added: "+", removed: "-", same: " ", hunk: "", comment: "" };

const renderLine = ({ kind, oldNumber, newNumber, text }: DiffLine): TemplateResult =>
  html`<tr class=${kind}><td class="line">${oldNumber}</td><td class="line">${newNumber}</td><td class="sign">${SIGNS[kind]}</td><td class="code">${showHidden(shorten(text))}</td></tr>`;

const shorten = (text: string): string =>
  text.length <= MAX_LINE_CHARACTERS
    ? text
    : `${text.slice(0, MAX_LINE_CHARACTERS)} … (${text.length - MAX_LINE_CHARACTERS} more characters)`;

customElements.define("bridge-task-diff", TaskDiffPart);

/** Shows the diff of a task on demand. */
export const taskDiff = ({ taskId, state, repository }: Task, context: ConsoleContext): TemplateResult =>
  html`<section aria-labelledby="diff">
    <h2 id="diff">Diff</h2>
    <bridge-task-diff .taskId=${taskId} .isStored=${repository !== null && hasEnded({ state })} .context=${context}></bridge-task-diff>
  </section>`;
