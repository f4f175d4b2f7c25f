import { type DispatchCheck, parseExactJson } from "bridge-client";
import { html, nothing, type PropertyValues, type TemplateResult } from "lit";
import { ApiError } from "../api.ts";
import { BridgeElement } from "../element.ts";
import { formatCount, formatDuration, showHidden } from "../format.ts";
import type { ConsoleContext } from "../session.ts";
import { errorNote } from "./badges.ts";

/** The check begins when the person has not typed for this long. */
const PAUSE_MS = 500;

type CouncilPlan = NonNullable<NonNullable<DispatchCheck["task"]>["council"]>;

/** Shows what the dispatch of a form would do. The form shows what is wrong with its fields. */
class DispatchCheckView extends BridgeElement {
  static override properties = {
    ...{ context: { attribute: false }, body: { attribute: false }, nameOf: { attribute: false }, onCheck: { attribute: false } },
  };
  declare context: ConsoleContext;
  /** The body of the dispatch as JSON; null before the first edit. */
  declare body: string | null;
  /** Returns the name of the field to which an error belongs; null if the form has no such field. */
  declare nameOf: (path: string) => string | null;
  /** Called with the result of each check, and with the body that was checked. */
  declare onCheck: (check: DispatchCheck, body: Readonly<Record<string, unknown>>) => void;
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
    if (!changed.has("body") || this.body === null) return;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.#load(this.body ?? "{}"), PAUSE_MS);
  }

  async #load(text: string): Promise<void> {
    this.#request?.abort();
    this.#request = new AbortController();
    const { signal } = this.#request;
    try {
      const body = parseExactJson(text) as Record<string, unknown>;
      this.#check = await this.context.api.call<DispatchCheck>("/api/v2/dispatch/check", { method: "POST", body, signal });
      this.#error = null;
      this.onCheck(this.#check, body);
    } catch (error) {
      if (signal.aborted) return;
      this.#error = error instanceof ApiError ? error : new ApiError(0, "unexpected", String(error));
    }
    this.requestUpdate();
  }

  protected override render(): TemplateResult {
    return html`<section class="panel check" aria-labelledby="check" aria-live="polite">
      <h2 id="check">What the dispatch would do</h2>
      ${errorNote(this.#error)} ${this.#renderCheck()}
    </section>`;
  }

  #renderCheck(): TemplateResult {
    if (this.body === null) return html`<p class="empty">Fill in the form to see it here, before anything starts.</p>`;
    if (this.#check === null) return html`<p class="empty">Checking …</p>`;
    const { problem, task } = this.#check;
    return task === null ? this.#renderProblem(problem) : renderTask(task);
  }

  /** Names the fields to correct. What is wrong with them is shown at the fields, unless the form has no such field. */
  #renderProblem(problem: DispatchCheck["problem"]): TemplateResult {
    const errors = problem?.errors ?? [];
    const names = new Set(errors.map(({ path }) => this.nameOf(path)).filter((name) => name !== null));
    const others = errors.filter(({ path }) => this.nameOf(path) === null);
    if (errors.length === 0) return html`<p class="note warning">${showHidden(problem?.detail ?? "Bridge would reject it.")}</p>`;
    return html`${names.size === 0 ? "" : html`<p class="empty">To complete: ${[...names].join(", ")}.</p>`}
      ${others.map(({ path, message }) => html`<p class="note warning"><code>${showHidden(path)}</code> ${showHidden(message)}</p>`)}`;
  }
}

function renderTask(task: NonNullable<DispatchCheck["task"]>): TemplateResult {
  if (task.replayed) return html`<p class="note info">It starts nothing, because a task with this id and content exists.</p>`;
  const { resolved, queueAhead, council = null } = task;
  const facts: [string, string][] = [
    ["Adapter", `${task.provider}${task.connection === null ? "" : ` · ${task.connection}`}`],
    // Each runtime of a council can have other models.
    ...(council === null ? ([["Model", resolved.model ?? "default of the runtime"]] as [string, string][]) : []),
    ["Profile", resolved.profile],
    ["Approvals", resolved.approvals],
    ["Time limit", formatDuration(resolved.timeoutSeconds * 1000)],
    ["Queued before it", formatCount(queueAhead)],
  ];
  return html`<dl class="check-facts">
      ${facts.map(([name, value]) => html`<div><dt>${name}</dt><dd>${showHidden(value)}</dd></div>`)}
    </dl>
    ${council === null ? nothing : renderCouncil(council)}
    ${task.warnings.map((warning) => html`<p class="note warning">${showHidden(warning)}</p>`)}`;
}

/** Lists who would answer: the roles, and the runtimes on which each of them runs. */
function renderCouncil({ roles, runtimes }: CouncilPlan): TemplateResult {
  const isShared = runtimes.length > 1;
  return html`<section class="check-council" aria-labelledby="council">
    <h3 id="council">Who answers</h3>
    <ul>
      ${roles.map(({ title, domain }) => html`<li>${showHidden(title)} <span class="detail">${showHidden(domain)}</span></li>`)}
    </ul>
    <p class="detail">${isShared ? "Each role runs on each of these runtimes:" : "Each role runs on:"}</p>
    <ul>
      ${runtimes.map(
        ({ provider, models, fault }) => html`<li>
          ${showHidden(provider)} <span class="detail">${showHidden(models.length === 0 ? "default model" : models.join(", "))}</span>
          ${fault === null ? nothing : html`<span class="fault">does not answer: ${showHidden(fault)}</span>`}
        </li>`,
      )}
    </ul>
  </section>`;
}

customElements.define("bridge-dispatch-check", DispatchCheckView);
