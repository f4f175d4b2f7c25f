import type { Callback } from "bridge-client";
import { html, nothing, type TemplateResult } from "lit";
import { repeat } from "lit/directives/repeat.js";
import { Send } from "lucide";
import { ApiError, type Page } from "../api.ts";
import { PageElement } from "../element.ts";
import { showHidden } from "../format.ts";
import { listPages } from "../live/list-pages.ts";
import { poll } from "../live/poll.ts";
import { countDead, originOf, type Redelivered } from "../live/redeliver.ts";
import { serverNow } from "../live/server-clock.ts";
import { describeAttempts } from "../parts/attempts.ts";
import { age, callbackBadge, errorNote } from "../parts/badges.ts";
import { emptyState } from "../parts/empty-state.ts";
import "../parts/redelivery.ts";
import type { Redelivery } from "../parts/redelivery.ts";
import { linkTo, taskLink } from "../router.ts";

const PAGE_LENGTH = 100;
/** Dead callbacks that are counted before a redelivery: this many pages of this length. */
const MAX_COUNTED_PAGES = 10;
const COUNTED_LENGTH = 200;
const states = ["dead", "pending", "delivered"] as const;

/** A redelivery that waits for a confirmation. */
interface Confirmation {
  origin: string;
  count: number;
  /** Whether only some of the dead callbacks were counted. */
  hasMore: boolean;
}

/** The callbacks in one state, and their redelivery. */
class Callbacks extends PageElement {
  #message = "";
  #confirmation: Confirmation | null = null;
  /** Whether a person is asked about the callbacks of all receivers. */
  #asksForAll = false;
  #cursor = -1;
  /** Pages that are shown. */
  #pageCount = 1;
  #unsubscribe: () => void = () => {};
  #pages = poll(this, (signal) => this.#load(signal));

  override connectedCallback(): void {
    super.connectedCallback();
    this.#unsubscribe = this.context.feed.subscribe((events) => {
      if (events?.some(({ type }) => type.startsWith("callback.")) ?? true) this.#pages.refresh();
    });
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.#unsubscribe();
  }

  /** The state in the URL. */
  #state(): (typeof states)[number] {
    return states.find((state) => state === this.route.query.get("state")) ?? "dead";
  }

  async #load(signal: AbortSignal): Promise<Page<Callback> & { state: string }> {
    const state = this.#state();
    if (state !== this.#pages.value?.state) this.#pageCount = 1;
    const options = { pages: this.#pageCount, pageLength: PAGE_LENGTH, signal };
    return { ...(await listPages<Callback>(this.context.api, "/api/v2/callbacks", { state }, options)), state };
  }

  protected override updated(): void {
    if (this.#pages.value !== undefined && this.#pages.value.state !== this.#state()) this.#pages.refresh();
  }

  override onKey(key: string): boolean {
    if (key !== "j" && key !== "k") return false;
    const rows = this.querySelectorAll<HTMLElement>(".callback a");
    this.#cursor = Math.min(rows.length - 1, Math.max(0, this.#cursor + (key === "j" ? 1 : -1)));
    rows[this.#cursor]?.focus();
    return true;
  }

  #redeliver(chosen: Omit<Redelivered, "kind">): void {
    this.#confirmation = null;
    this.#asksForAll = false;
    this.requestUpdate();
    void this.querySelector<Redelivery>("bridge-redelivery")?.start({ kind: "callback", ...chosen });
  }

  /** Asks before the redelivery, with the number of dead callbacks to the origin. The list shows only some of them. */
  async #askToRedeliver(origin: string): Promise<void> {
    this.#message = "";
    try {
      this.#confirmation = { origin, ...(await this.#countDead(origin)) };
    } catch (error) {
      this.#message = error instanceof ApiError ? error.message : String(error);
    }
    this.requestUpdate();
  }

  async #countDead(origin: string): Promise<{ count: number; hasMore: boolean }> {
    let count = 0;
    let cursor: string | undefined;
    for (let pages = 0; pages < MAX_COUNTED_PAGES; pages += 1) {
      const page: Page<Callback> = await this.context.api.list("/api/v2/callbacks", { state: "dead", limit: COUNTED_LENGTH, cursor });
      count += page.data.filter(({ url }) => originOf(url) === origin).length;
      cursor = page.meta.nextCursor ?? undefined;
      if (cursor === undefined) return { count, hasMore: false };
    }
    return { count, hasMore: true };
  }

  protected override render(): TemplateResult {
    const state = this.#state();
    const page = this.#pages.value?.state === state ? this.#pages.value : undefined;
    return html`
      <h1>Callbacks</h1>
      <p class="tabs">
        ${states.map((name) => html`<a class="tab" href=${linkTo(`callbacks?state=${name}`)} aria-current=${name === state ? "page" : nothing}>${name}</a>`)}
      </p>
      ${errorNote(this.#pages.error)}
      ${this.#message === "" ? nothing : html`<p class="note error" role="alert">${showHidden(this.#message)}</p>`}
      <bridge-redelivery .context=${this.context} .onChange=${() => this.#pages.refresh()}></bridge-redelivery>
      ${page === undefined ? html`<p role="status">Loading …</p>` : this.#renderPage(state, page)}
    `;
  }

  #renderPage(state: string, page: Page<Callback>): TemplateResult {
    const { data, meta } = page;
    if (data.length === 0)
      return emptyState(
        Send,
        `No callback is ${state}.`,
        html`A task with a <code>callbackUrl</code> posts its result when it ends. <a href=${linkTo("new")}>Dispatch one</a>`,
      );
    const now = serverNow();
    return html`
      ${state === "dead" && this.context.identity.scopes.includes("dispatch") ? this.#renderOrigins(page) : nothing}
      <ul class="rows">
        ${repeat(
          data,
          ({ taskId }) => taskId,
          (callback) => this.#renderCallback(callback, now),
        )}
      </ul>
      ${meta.nextCursor === null ? nothing : html`<button class="plain" @click=${this.#showMore}>Show ${PAGE_LENGTH} more</button>`}
    `;
  }

  /** Buttons for all dead callbacks of a receiver that works again. */
  #renderOrigins({ data, meta }: Page<Callback>): TemplateResult {
    const groups = Object.entries(Object.groupBy(data, ({ url }) => originOf(url)));
    const origins = groups.filter(([, callbacks = []]) => callbacks.length > 1 || meta.nextCursor !== null).map(([origin]) => origin);
    const all = Object.keys(Object.groupBy(data, ({ url }) => originOf(url)));
    const hasMore = meta.nextCursor !== null;
    return html`${all.length > 1 || hasMore ? this.#renderRedeliverAll(hasMore ? "all" : String(all.length)) : nothing}
    ${origins.map((origin) =>
      this.#confirmation?.origin === origin
        ? this.#renderConfirmation(this.#confirmation)
        : html`<p><button @click=${() => this.#askToRedeliver(origin)}>Redeliver all dead to ${showHidden(origin)}</button></p>`,
    )}`;
  }

  /** A button for all receivers, also for those that the list does not show. */
  #renderRedeliverAll(receivers: string): TemplateResult {
    if (!this.#asksForAll) return html`<p><button @click=${() => this.#askForAll(true)}>Redeliver all</button></p>`;
    return html`<p class="actions">
      <span role="status">Redeliver all dead callbacks to ${receivers} receivers?</span>
      <button @click=${() => this.#redeliver({ receiver: null })}>Yes, redeliver</button>
      <button @click=${() => this.#askForAll(false)}>No</button>
    </p>`;
  }

  #askForAll(asks: boolean): void {
    this.#asksForAll = asks;
    this.requestUpdate();
  }

  #renderConfirmation({ origin, count, hasMore }: Confirmation): TemplateResult {
    return html`<p class="actions">
      <span role="status">Redeliver ${hasMore ? "more than " : ""}${countDead("callback", count)} to ${showHidden(origin)}?</span>
      <button @click=${() => this.#redeliver({ receiver: origin })}>Yes, redeliver</button>
      <button @click=${() => this.#dismiss()}>No</button>
    </p>`;
  }

  #showMore(): void {
    this.#pageCount += 1;
    this.#pages.refresh();
  }

  #dismiss(): void {
    this.#confirmation = null;
    this.requestUpdate();
  }

  #renderCallback(callback: Callback, now: number): TemplateResult {
    const { taskId, url, state, updatedAt } = callback;
    const canRedeliver = state === "dead" && this.context.identity.scopes.includes("dispatch");
    return html`<li class="callback">
      ${callbackBadge(callback)} <a href=${taskLink(taskId)}>${taskId}</a> <span>${showHidden(url)}</span>
      <span class="detail">${describeAttempts(callback, now)}</span>
      ${age(updatedAt, now)}
      ${canRedeliver ? html`<button @click=${() => this.#redeliver({ receiver: originOf(url), id: taskId })} aria-label="Redeliver the callback of ${taskId}">Redeliver</button>` : nothing}
    </li>`;
  }
}

customElements.define("bridge-callbacks", Callbacks);
