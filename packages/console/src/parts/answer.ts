import type { Task } from "bridge-client";
import { html, nothing, type TemplateResult } from "lit";
import { ApiError } from "../api.ts";
import { BridgeElement } from "../element.ts";
import { showHidden } from "../format.ts";
import { taskLink } from "../router.ts";
import type { ConsoleContext } from "../session.ts";
import { errorNote } from "./badges.ts";
import { longText } from "./long-text.ts";
import { markdownText } from "./markdown-text.ts";

/** The answer of a child task, which is loaded when it is opened. */
class Answer extends BridgeElement {
  static override properties = { taskId: { attribute: false }, heading: { attribute: false }, context: { attribute: false } };
  declare taskId: string;
  declare heading: string;
  declare context: ConsoleContext;
  #task: Task | ApiError | null = null;

  protected override render(): TemplateResult {
    return html`<details @toggle=${this.#onToggle}>
      <summary>${showHidden(this.heading)}</summary>
      ${this.#renderTask()}
    </details>`;
  }

  #renderTask(): TemplateResult | typeof nothing {
    const task = this.#task;
    if (task === null) return nothing;
    if (task instanceof ApiError) return html`${errorNote(task)}`;
    const { output, outputs, error } = task.result ?? {};
    return html`
      ${output ? showAnswer(output) : outputs === undefined ? html`<p class="empty">${showHidden(error ?? "No answer.")}</p>` : longText(outputs)}
      <p><a href=${taskLink(task.taskId)}>The task of this role</a></p>
    `;
  }

  async #onToggle(event: ToggleEvent): Promise<void> {
    if (event.newState !== "open" || this.#task !== null) return;
    this.#task = await this.context.api
      .call<Task>(`/api/v2/tasks/${encodeURIComponent(this.taskId)}`)
      .catch((error: unknown) => (error instanceof ApiError ? error : new ApiError(0, "unreachable", String(error))));
    this.requestUpdate();
  }
}

/** Roles of a council answer in JSON, other agents in Markdown. */
function showAnswer(output: string): TemplateResult {
  try {
    return longText(JSON.parse(output));
  } catch {
    return markdownText(output, { level: 4 });
  }
}

customElements.define("bridge-answer", Answer);
