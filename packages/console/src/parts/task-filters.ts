import { html, nothing, type PropertyValues, type TemplateResult } from "lit";
import { ListFilter, Search } from "lucide";
import { BridgeElement } from "../element.ts";
import { fromLocalTime, toLocalTime } from "../format.ts";
import { linkTo } from "../router.ts";
import type { ConsoleContext } from "../session.ts";
import { normalizeQuery, startsOf } from "../task-views.ts";
import { icon } from "./icon.ts";

/** The search begins when the person has not typed for this long. */
const PAUSE_MS = 200;
const MAX_SEARCH = 200;
const MAX_AGENTS = 200;

interface Filter {
  name: string;
  label: string;
  /** The values to choose from, with their names if those differ; null for any text, and `time` for a time. */
  values: readonly (string | readonly [value: string, name: string])[] | "time" | null;
  /** What applies without a value. Default: any. */
  none?: string;
  /** The form of a text. */
  example?: string;
  list?: string;
}

/** The times since when, which the words in the URL name. Today begins at midnight in the time zone of the browser. */
function listStarts(): (readonly [value: string, name: string])[] {
  return Object.entries(startsOf).map(([value, { name }]) => [value, name] as const);
}

const moreFilters: readonly Filter[] = [
  { name: "errorCode", label: "Error code", values: null, example: "timeout" },
  { name: "callback", label: "Callback", values: ["pending", "delivered", "dead"] },
  { name: "waitingOn", label: "Waits for", values: [["approval", "an approval"]] },
  { name: "children", label: "Child tasks", values: [["all", "as separate rows"]], none: "in the row of their parent" },
  { name: "parentTaskId", label: "Parent task", values: null, example: "id" },
  { name: "idPrefix", label: "Id starts with", values: null },
  { name: "q", label: "Title contains", values: null },
  { name: "createdAfter", label: "Created after", values: "time" },
  { name: "createdBefore", label: "Created before", values: "time" },
  { name: "finished", label: "Ended", values: listStarts() },
  { name: "finishedAfter", label: "Ended after", values: "time" },
  { name: "finishedBefore", label: "Ended before", values: "time" },
];

/** The search box and the filters of the list of tasks, in one row. */
export class TaskFilters extends BridgeElement {
  static override properties = {
    ...{ context: { attribute: false }, query: { attribute: false }, inRow: { attribute: false }, onQuery: { attribute: false } },
  };
  declare context: ConsoleContext;
  declare query: URLSearchParams;
  /** How many filters have room in the row. */
  declare inRow: number;
  declare onQuery: (query: URLSearchParams) => void;
  /** What the person has typed, which may not be searched yet. */
  #search = "";
  /** The search of the URL, which the page may show later than the person types. */
  #searched = "";
  #agents: readonly string[] | null = null;
  #timer: ReturnType<typeof setTimeout> | undefined;

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    clearTimeout(this.#timer);
  }

  protected override willUpdate(changed: PropertyValues<this>): void {
    if (!changed.has("query")) return;
    const search = this.query.get("search") ?? "";
    // A search that this box has set must not replace what the person has typed since.
    if (search === this.#searched) return;
    clearTimeout(this.#timer);
    this.#search = search;
    this.#searched = search;
  }

  /** Puts the focus into the search box. */
  override focus(): void {
    this.querySelector<HTMLInputElement>("input[type=search]")?.focus();
  }

  #onSearch(event: Event): void {
    this.#search = (event.target as HTMLInputElement).value;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#set("search", this.#search.trim()), PAUSE_MS);
  }

  #set(name: string, value: string): void {
    const query = new URLSearchParams(this.query);
    clearTimeout(this.#timer);
    // The search may be pending.
    this.#searched = this.#search.trim();
    if (this.#searched === "") query.delete("search");
    else query.set("search", this.#searched);
    if (value === "") query.delete(name);
    else query.set(name, value);
    if (normalizeQuery(query) !== normalizeQuery(this.query)) this.onQuery(query);
  }

  async #loadAgents(): Promise<void> {
    if (this.#agents !== null) return;
    this.#agents = [];
    const page = await this.context.api.list<{ agentId: string }>("/api/v2/agents", { limit: MAX_AGENTS }).catch(() => null);
    this.#agents = page?.data.map(({ agentId }) => agentId) ?? null;
    this.requestUpdate();
  }

  #mainFilters(): Filter[] {
    const providers = this.context.attention.state.adapters.map(({ provider }) => provider);
    return [
      { name: "state", label: "State", values: ["queued", "running", "completed", "failed", ["cancelled", "canceled"]] },
      { name: "provider", label: "Adapter", values: providers },
      { name: "agentId", label: "Agent", values: null, list: "filter-agents" },
      { name: "label", label: "Label", values: null, example: "name=value" },
      { name: "created", label: "Created", values: listStarts() },
    ];
  }

  protected override render(): TemplateResult {
    const main = this.#mainFilters();
    const hidden = [...main.slice(this.inRow), ...moreFilters];
    return html`<search class="task-filters">
      <label class="search-box"
        >${icon(Search)}<span class="visually-hidden">Search</span>
        <input
          type="search" .value=${this.#search} maxlength=${MAX_SEARCH} placeholder="Search by id, title, agent or label" spellcheck="false"
          autocomplete="off" @input=${this.#onSearch}
        /></label>
      ${main.slice(0, this.inRow).map((filter) => this.#renderFilter(filter, true))}
      ${this.#renderMore(hidden)}
      ${normalizeQuery(this.query) === "" ? nothing : html`<a class="button plain clear" href=${linkTo("tasks")}>Clear</a>`}
      <datalist id="filter-agents">${(this.#agents ?? []).map((agent) => html`<option value=${agent}></option>`)}</datalist>
    </search>`;
  }

  #renderMore(filters: readonly Filter[]): TemplateResult {
    const used = filters.filter(({ name }) => this.query.has(name)).length;
    const onFocusOut = (event: FocusEvent): void => {
      const details = event.currentTarget as HTMLDetailsElement;
      if (!details.contains(event.relatedTarget as Node | null)) details.open = false;
    };
    const onKey = (event: KeyboardEvent): void => {
      if (event.key !== "Escape") return;
      const details = event.currentTarget as HTMLDetailsElement;
      details.open = false;
      details.querySelector("summary")?.focus();
    };
    return html`<details class="menu" @focusout=${onFocusOut} @keydown=${onKey}>
      <summary>${icon(ListFilter)} ${this.inRow === 0 ? "Filters" : "More filters"} ${used === 0 ? nothing : html`<span class="count">${used}</span>`}</summary>
      <div class="filter-panel" tabindex="-1">${filters.map((filter) => this.#renderFilter(filter, false))}</div>
    </details>`;
  }

  /** In the row, the name of a filter is inside its control. */
  #renderFilter({ name, label, values, none = "any", example, list }: Filter, isInRow: boolean): TemplateResult {
    const value = this.query.get(name) ?? "";
    const onChange = (event: Event): void => this.#set(name, (event.target as HTMLInputElement).value.trim());
    const title = isInRow ? nothing : html`<span>${label}</span>`;
    const used = value === "" ? "" : "used";
    if (values === "time") {
      const onTime = (event: Event): void => this.#set(name, fromLocalTime((event.target as HTMLInputElement).value));
      return html`<label>${title} <input type="datetime-local" aria-label=${label} class=${used} .value=${toLocalTime(value)} @change=${onTime} /></label>`;
    }
    // Without live(): a render, such as after an event, must not replace what a person is typing.
    if (values === null)
      return html`<label
        >${title}
        <input
          aria-label=${label} class=${used} .value=${value} @change=${onChange} @focus=${list === undefined ? nothing : () => this.#loadAgents()}
          list=${list ?? nothing} placeholder=${isInRow ? label : (example ?? nothing)} title=${example ?? nothing}
          spellcheck="false" autocomplete="off"
      /></label>`;
    const options = values.map((option) => (typeof option === "string" ? ([option, option] as const) : option));
    const isKnown = value === "" || options.some(([option]) => option === value);
    return html`<label
      >${title}
      <select aria-label=${label} class=${used} @change=${onChange}>
        <option value="" ?selected=${value === ""}>${isInRow ? label : none}</option>
        ${(isKnown ? options : [...options, [value, value] as const]).map(
          ([option, text]) => html`<option value=${option} ?selected=${option === value}>${text}</option>`,
        )}
      </select></label
    >`;
  }
}

customElements.define("bridge-task-filters", TaskFilters);
