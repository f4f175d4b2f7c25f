import type { ListedTask } from "bridge-client";
import { html, nothing, type TemplateResult } from "lit";
import { BridgeElement } from "../element.ts";
import { showHidden } from "../format.ts";
import { serverNow } from "../live/server-clock.ts";
import { navigate, taskLink } from "../router.ts";
import type { ConsoleContext } from "../session.ts";
import { findActivity } from "../task-state.ts";
import { activityBadge } from "./badges.ts";

/** The search begins when the person has not typed for this long. */
const PAUSE_MS = 150;
const MAX_TASKS = 8;

/** What the menu can open or do. */
export interface Command {
  name: string;
  /** A word for what it is, such as `page`. */
  kind: string;
  run: () => void;
}

interface Choice extends Command {
  task?: ListedTask;
}

/** A dialog that finds pages, actions, adapters and tasks by a few letters. */
export class CommandMenu extends BridgeElement {
  static override properties = { context: { attribute: false }, commands: { attribute: false } };
  declare context: ConsoleContext;
  declare commands: readonly Command[];
  #text = "";
  #tasks: readonly ListedTask[] = [];
  #chosen = 0;
  #isOpen = false;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #searching: AbortController | null = null;

  /** Opens the menu with an empty search. */
  open(): void {
    this.#text = "";
    this.#tasks = [];
    this.#chosen = 0;
    this.#isOpen = true;
    this.requestUpdate();
    void this.updateComplete.then(() => this.querySelector("dialog")?.showModal());
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    clearTimeout(this.#timer);
    this.#searching?.abort();
  }

  #choices(): Choice[] {
    const words = this.#text.toLowerCase().split(/\s+/);
    const commands = this.commands.filter(({ name, kind }) => words.every((word) => `${kind} ${name}`.toLowerCase().includes(word)));
    const tasks = this.#tasks.map((task) => ({
      ...{ name: task.title ?? task.taskId, kind: "task", task },
      run: () => navigate(taskLink(task.taskId)),
    }));
    return this.#text === "" ? commands : [...commands.slice(0, MAX_TASKS), ...tasks];
  }

  #onInput(event: Event): void {
    this.#text = (event.target as HTMLInputElement).value.trim();
    this.#chosen = 0;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.#search(), PAUSE_MS);
    this.requestUpdate();
  }

  async #search(): Promise<void> {
    this.#searching?.abort();
    this.#searching = new AbortController();
    const { signal } = this.#searching;
    if (this.#text === "") this.#tasks = [];
    else {
      const found = await this.#findTasks(signal).catch(() => []);
      if (signal.aborted) return;
      this.#tasks = found;
    }
    this.requestUpdate();
  }

  async #findTasks(signal: AbortSignal): Promise<ListedTask[]> {
    const query = { search: this.#text, limit: MAX_TASKS };
    const first = await this.context.api.list<ListedTask>("/api/v2/tasks", query, { signal });
    const cursor = first.meta.nextCursor;
    if (cursor === null || first.data.length === MAX_TASKS) return first.data;
    // Tasks that Bridge finds by their id have a separate page.
    const next = await this.context.api.list<ListedTask>("/api/v2/tasks", { ...query, cursor }, { signal });
    return [...first.data, ...next.data].slice(0, MAX_TASKS);
  }

  #onKey(event: KeyboardEvent): void {
    const choices = this.#choices();
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      const step = event.key === "ArrowDown" ? 1 : choices.length - 1;
      this.#chosen = choices.length === 0 ? 0 : (this.#chosen + step) % choices.length;
      this.requestUpdate();
    } else if (event.key === "Enter") this.#run(choices[this.#chosen]);
    else return;
    event.preventDefault();
  }

  #run(choice: Choice | undefined): void {
    if (choice === undefined) return;
    this.querySelector("dialog")?.close();
    choice.run();
  }

  protected override updated(): void {
    this.querySelector("[aria-selected=true]")?.scrollIntoView({ block: "nearest" });
  }

  protected override render(): TemplateResult {
    const choices = this.#isOpen ? this.#choices() : [];
    return html`<dialog class="command-menu" aria-label="Search or jump to" @click=${this.#onBackdrop} @close=${this.#onClose}>
      ${this.#isOpen ? this.#renderSearch(choices) : nothing}
    </dialog>`;
  }

  #renderSearch(choices: readonly Choice[]): TemplateResult {
    return html`
      <input
        type="search" role="combobox" aria-label="Search or jump to" aria-expanded="true"
        aria-controls="command-choices" aria-activedescendant=${choices.length === 0 ? nothing : `choice-${this.#chosen}`}
        placeholder="Page, action, or task by id, title, agent or label" autocomplete="off" spellcheck="false"
        .value=${this.#text} @input=${this.#onInput} @keydown=${this.#onKey}
      />
      <ul id="command-choices" role="listbox" aria-label="Matches">
        ${choices.map(
          (choice, index) => html`<li
            id="choice-${index}" role="option" aria-selected=${index === this.#chosen} @click=${() => this.#run(choice)}
          >${renderChoice(choice)}</li>`,
        )}
      </ul>
      ${choices.length === 0 ? html`<p class="empty" role="status">Nothing matches.</p>` : nothing}`;
  }

  #onClose(): void {
    this.#isOpen = false;
    this.requestUpdate();
  }

  #onBackdrop(event: MouseEvent): void {
    if (event.target instanceof HTMLDialogElement) event.target.close();
  }
}

const renderChoice = ({ name, kind, task }: Choice): TemplateResult =>
  task === undefined
    ? html`<span class="choice-name">${showHidden(name)}</span> <span class="detail">${kind}</span>`
    : html`${activityBadge(findActivity(task, serverNow()))} <span class="choice-name" title=${name}>${showHidden(name)}</span>
        <span class="detail">${task.taskId} · ${task.agentId}</span>`;

customElements.define("bridge-command-menu", CommandMenu);
