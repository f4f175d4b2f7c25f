import { html, nothing, type TemplateResult } from "lit";
import { repeat } from "lit/directives/repeat.js";
import { ApiError, type Page } from "../api.ts";
import { PageElement } from "../element.ts";
import { showHidden } from "../format.ts";
import type { Callback } from "../live/attention.ts";
import { poll } from "../live/poll.ts";
import { describeAttempts } from "../parts/attempts.ts";
import { age, callbackBadge, errorNote } from "../parts/badges.ts";
import { linkTo, taskLink } from "../router.ts";

const MAX_CALLBACKS = 100;
const states = ["dead", "pending", "delivered"] as const;

/** The callbacks in one state, and their redelivery. */
class Callbacks extends PageElement {
  #message = "";
  #cursor = -1;
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
    return { ...(await this.context.api.list<Callback>("/api/v2/callbacks", { state, limit: MAX_CALLBACKS }, { signal })), state };
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

  async #redeliver(callbacks: readonly Callback[]): Promise<void> {
    this.#message = callbacks.length === 1 ? "Redelivering …" : `Redelivering ${callbacks.length} callbacks …`;
    this.requestUpdate();
    let failure = "";
    let started = 0;
    for (const { taskId } of callbacks) {
      try {
        await this.context.api.call(`/api/v2/callbacks/${encodeURIComponent(taskId)}/redeliver`, { method: "POST" });
        started += 1;
      } catch (error) {
        failure = ` ${taskId}: ${error instanceof ApiError ? error.message : String(error)}`;
      }
    }
    this.#message = `Redelivery of ${started} ${started === 1 ? "callback" : "callbacks"} started.${failure}`;
    this.context.attention.refresh();
    this.#pages.refresh();
    this.requestUpdate();
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
      ${this.#message === "" ? nothing : html`<p class="note info" role="status">${this.#message}</p>`}
      ${page === undefined ? html`<p role="status">Loading …</p>` : this.#renderPage(state, page)}
    `;
  }

  #renderPage(state: string, { data, meta }: Page<Callback>): TemplateResult {
    if (data.length === 0) return html`<p class="empty">${state === "dead" ? "No callback is dead." : `No callback is ${state}.`}</p>`;
    const now = Date.now();
    return html`
      ${state === "dead" && this.context.identity.scopes.includes("dispatch") ? this.#renderOrigins(data) : nothing}
      <ul class="rows">
        ${repeat(
          data,
          ({ taskId }) => taskId,
          (callback) => this.#renderCallback(callback, now),
        )}
      </ul>
      ${meta.nextCursor === null ? nothing : html`<p class="hint">The ${MAX_CALLBACKS} latest are shown.</p>`}
    `;
  }

  /** Buttons for all dead callbacks of a receiver that works again. */
  #renderOrigins(data: readonly Callback[]): TemplateResult {
    const origins = Object.entries(Object.groupBy(data, ({ url }) => originOf(url))).filter(([, callbacks = []]) => callbacks.length > 1);
    return html`${origins.map(
      ([origin, callbacks = []]) =>
        html`<p><button @click=${() => this.#redeliver(callbacks)}>Redeliver ${callbacks.length} to ${origin}</button></p>`,
    )}`;
  }

  #renderCallback(callback: Callback, now: number): TemplateResult {
    const { taskId, url, state, updatedAt } = callback;
    const canRedeliver = state === "dead" && this.context.identity.scopes.includes("dispatch");
    return html`<li class="callback">
      ${callbackBadge(callback)} <a href=${taskLink(taskId)}>${taskId}</a> <span>${showHidden(url)}</span>
      <span class="detail">${describeAttempts(callback, now)}</span>
      ${age(updatedAt, now)}
      ${canRedeliver ? html`<button @click=${() => this.#redeliver([callback])} aria-label="Redeliver the callback of ${taskId}">Redeliver</button>` : nothing}
    </li>`;
  }
}

function originOf(url: string): string {
  return URL.canParse(url) ? new URL(url).origin : url;
}

customElements.define("bridge-callbacks", Callbacks);
