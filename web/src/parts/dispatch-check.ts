import { type DispatchCheck, parseExactJson } from "bridge-client";
import { html, type PropertyValues, type TemplateResult } from "lit";
import { ApiError } from "../api.ts";
import { BridgeElement } from "../element.ts";
import { formatCount, formatDuration, showHidden } from "../format.ts";
import type { ConsoleContext } from "../session.ts";
import { errorNote } from "./badges.ts";

/** The check begins when the person has not typed for this long. */
const PAUSE_MS = 500;

/** Shows what the dispatch of a form would do. */
class DispatchCheckView extends BridgeElement {
  static override properties = { context: { attribute: false }, body: { attribute: false } };
  declare context: ConsoleContext;
  /** The body of the dispatch as JSON. */
  declare body: string;
  #check: DispatchCheck | null = null;
  #error: ApiError | null = null;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #request: AbortController | null = null;

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    clearTimeout(this.#timer);
    this.#request?.abort();
  }

  protected override willUpdate(changed: PropertyValues<this>): void {
    if (!changed.has("body")) return;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.#load(), PAUSE_MS);
  }

  async #load(): Promise<void> {
    this.#request?.abort();
    this.#request = new AbortController();
    const { signal } = this.#request;
    try {
      const body = parseExactJson(this.body);
      this.#check = await this.context.api.call<DispatchCheck>("/api/v2/dispatch/check", { method: "POST", body, signal });
      this.#error = null;
    } catch (error) {
      if (signal.aborted) return;
      this.#error = error instanceof ApiError ? error : new ApiError(0, "unexpected", String(error));
    }
    this.requestUpdate();
  }

  protected override render(): TemplateResult {
    return html`<section aria-labelledby="check" aria-live="polite">
      <h2 id="check">What the dispatch would do</h2>
      ${errorNote(this.#error)} ${this.#check === null ? html`<p class="empty">Checking …</p>` : renderCheck(this.#check)}
    </section>`;
  }
}

function renderCheck({ wouldAnswer, problem, task }: DispatchCheck): TemplateResult {
  if (task === null)
    return html`<p class="note warning">Bridge would reject it (${wouldAnswer}): ${showHidden(problem?.detail ?? "")}</p>
      <ul>
        ${(problem?.errors ?? []).map(({ path, message }) => html`<li><code>${showHidden(path)}</code> ${showHidden(message)}</li>`)}
      </ul>`;
  if (task.replayed) return html`<p class="note info">It starts nothing, because a task with this id and content exists.</p>`;
  const { resolved, queueAhead } = task;
  const facts: [string, string][] = [
    ["Adapter", `${task.provider}${task.connection === null ? "" : ` · ${task.connection}`}`],
    ["Model", resolved.model ?? "default of the runtime"],
    ["Profile", resolved.profile],
    ["Approvals", resolved.approvals],
    ["Time limit", formatDuration(resolved.timeoutSeconds * 1000)],
    ["Queued before it", formatCount(queueAhead)],
  ];
  return html`<dl class="facts">
      ${facts.map(([name, value]) => html`<div><dt>${name}</dt><dd>${showHidden(value)}</dd></div>`)}
    </dl>
    ${task.warnings.map((warning) => html`<p class="note warning">${showHidden(warning)}</p>`)}`;
}

customElements.define("bridge-dispatch-check", DispatchCheckView);
