import { html, nothing, type TemplateResult } from "lit";
import { BookmarkPlus, X } from "lucide";
import { BridgeElement } from "../element.ts";
import type { AttentionState } from "../live/attention.ts";
import { linkTo } from "../router.ts";
import type { ConsoleContext } from "../session.ts";
import { builtInViews, createSavedViews, MAX_VIEW_NAME, normalizeQuery, type View } from "../task-views.ts";
import { icon } from "./icon.ts";

/** The views of the list of tasks as tabs. Saves the current filters as a view, and removes a saved one. */
class TaskViewsBar extends BridgeElement {
  static override properties = { context: { attribute: false }, query: { attribute: false } };
  declare context: ConsoleContext;
  declare query: URLSearchParams;
  #isNaming = false;
  #unsubscribe: () => void = () => {};

  override connectedCallback(): void {
    super.connectedCallback();
    this.#unsubscribe = this.context.attention.subscribe(() => this.requestUpdate());
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.#unsubscribe();
  }

  #saved(): ReturnType<typeof createSavedViews> {
    return createSavedViews(localStorage, this.context.identity.tenant);
  }

  #setNaming(isNaming: boolean): void {
    this.#isNaming = isNaming;
    this.requestUpdate();
    void this.updateComplete.then(() => this.querySelector<HTMLElement>(isNaming ? ".view-name" : ".save-view, [aria-current]")?.focus());
  }

  #save(event: Event): void {
    event.preventDefault();
    const name = this.querySelector<HTMLInputElement>(".view-name")?.value.trim() ?? "";
    if (name === "") return;
    this.#saved().save({ name, query: normalizeQuery(this.query) });
    this.#setNaming(false);
  }

  #remove(name: string): void {
    this.#saved().remove(name);
    this.#setNaming(false);
  }

  protected override render(): TemplateResult {
    const query = normalizeQuery(this.query);
    const saved = this.#saved().list();
    const counts = countWaiting(this.context.attention.state);
    const isNew = ![...builtInViews, ...saved].some((view) => view.query === query);
    return html`<div class="views">
      <nav class="tabs" aria-label="Views">
        ${[...builtInViews, ...saved].map((view) => renderTab(view, query, counts[view.query] ?? 0))}
      </nav>
      ${
        this.#isNaming
          ? this.#renderForm()
          : isNew
            ? html`<button class="plain save-view" @click=${() => this.#setNaming(true)}>${icon(BookmarkPlus)} Save this view</button>`
            : saved
                .filter((view) => view.query === query)
                .map(({ name }) => html`<button class="plain" @click=${() => this.#remove(name)}>${icon(X)} Remove this view</button>`)
      }
    </div>`;
  }

  #renderForm(): TemplateResult {
    const onKey = (event: KeyboardEvent): void => {
      if (event.key === "Escape") this.#setNaming(false);
    };
    return html`<form class="name-view" @submit=${this.#save} @keydown=${onKey}>
      <input class="view-name" aria-label="Name of the view" placeholder="Name of the view" maxlength=${MAX_VIEW_NAME} autocomplete="off" required />
      <button class="primary" type="submit">Save</button>
      <button type="button" class="plain" @click=${() => this.#setNaming(false)}>Cancel</button>
    </form>`;
  }
}

/** How much waits for a person in a view, by its query. Acknowledged faults do not wait. */
const countWaiting = ({ approvals, faults }: AttentionState): Readonly<Record<string, number>> => ({
  "waitingOn=approval": new Set(approvals.map(({ taskId }) => taskId)).size,
  "callback=dead": faults.counts.callback,
});

const renderTab = (view: View, current: string, count: number): TemplateResult => html`<a
  class="tab" href=${linkTo(view.query === "" ? "tasks" : `tasks?${view.query}`)} aria-current=${view.query === current ? "true" : nothing}
  >${view.name}${count === 0 ? nothing : html` <span class="count" title="${count} to deal with">${count}</span>`}</a
>`;

customElements.define("bridge-task-views", TaskViewsBar);
