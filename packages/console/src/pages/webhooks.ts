import type { Webhook, WebhookDelivery } from "bridge-client";
import { html, nothing, type TemplateResult } from "lit";
import { Bell, Inbox } from "lucide";
import type { Page } from "../api.ts";
import { PageElement } from "../element.ts";
import { showHidden } from "../format.ts";
import { listPages } from "../live/list-pages.ts";
import { poll } from "../live/poll.ts";
import { countDead } from "../live/redeliver.ts";
import { serverNow } from "../live/server-clock.ts";
import { describeAttempts } from "../parts/attempts.ts";
import { ago, errorNote } from "../parts/badges.ts";
import { deliveryTable } from "../parts/delivery-table.ts";
import { emptyState } from "../parts/empty-state.ts";
import "../parts/redelivery.ts";
import type { Redelivery } from "../parts/redelivery.ts";
import { linkTo, navigate } from "../router.ts";

const MAX_WEBHOOKS = 100;
/** Bridge counts the deliveries of a webhook up to this number. */
const MAX_COUNTED = 10_000;
/** Webhooks whose last delivery is shown. Each takes a request. */
const MAX_LAST = 20;
const PAGE_LENGTH = 100;
const states = ["dead", "pending", "delivered"] as const;

/** The deliveries of one webhook in one state. */
interface Deliveries extends Page<WebhookDelivery> {
  name: string;
  state: string;
}

/** The webhooks of the tenant, and the deliveries of one of them. */
class Webhooks extends PageElement {
  /** The webhook whose dead deliveries a person is asked about; null if none is. */
  #asked: string | null = null;
  /** Pages of deliveries that are shown. */
  #pages = 1;
  /** Ids of the deliveries whose details are shown. */
  #open = new Set<string>();
  #cursor = -1;
  /** The selection of the last request for deliveries; null before the first one. */
  #requested: string | null = null;
  #webhooks = poll(this, async (signal) => {
    const { data } = await this.context.api.list<Webhook>("/api/v2/webhooks", { limit: MAX_WEBHOOKS }, { signal });
    const last = new Map<string, WebhookDelivery>();
    await Promise.all(
      data.slice(0, MAX_LAST).map(async ({ name }) => {
        const path = `/api/v2/webhooks/${encodeURIComponent(name)}/deliveries`;
        const [delivery] = (await this.context.api.list<WebhookDelivery>(path, { limit: 1 }, { signal })).data;
        if (delivery !== undefined) last.set(name, delivery);
      }),
    );
    return { data, last };
  });
  #deliveries = poll(this, (signal) => this.#load(signal));

  #refresh(): void {
    this.#webhooks.refresh();
    this.#deliveries.refresh();
  }

  /** The webhook and the state in the URL. */
  #selection(): { name: string; state: (typeof states)[number] } {
    const { query } = this.route;
    return { name: query.get("name") ?? "", state: states.find((state) => state === query.get("state")) ?? "dead" };
  }

  async #load(signal: AbortSignal): Promise<Deliveries | null> {
    const { name, state } = this.#selection();
    const requested = JSON.stringify({ name, state });
    if (requested !== this.#requested) this.#pages = 1;
    this.#requested = requested;
    if (name === "") return null;
    const path = `/api/v2/webhooks/${encodeURIComponent(name)}/deliveries`;
    const options = { pages: this.#pages, pageLength: PAGE_LENGTH, signal };
    return { ...(await listPages<WebhookDelivery>(this.context.api, path, { state }, options)), name, state };
  }

  protected override updated(): void {
    this.#selectDead();
    if (this.#requested !== null && this.#requested !== JSON.stringify(this.#selection())) this.#deliveries.refresh();
  }

  /** Selects the first webhook with dead deliveries if the URL names none. It stays selected when they are delivered. */
  #selectDead(): void {
    const first = this.#selection().name === "" ? this.#webhooks.value?.data.find(({ dead }) => dead > 0) : undefined;
    if (first !== undefined) navigate(linkTo(`webhooks?name=${encodeURIComponent(first.name)}`), { replace: true });
  }

  #toggle(id: string): void {
    if (!this.#open.delete(id)) this.#open.add(id);
    this.requestUpdate();
  }

  /** Whether these are the deliveries that the URL names. */
  #isCurrent(value: Deliveries | null | undefined): boolean {
    const { name, state } = this.#selection();
    return value?.name === name ? value.state === state : name === "";
  }

  override onKey(key: string): boolean {
    if (key !== "j" && key !== "k") return false;
    const rows = this.querySelectorAll<HTMLElement>(".webhook a, .delivery .toggle");
    this.#cursor = Math.min(rows.length - 1, Math.max(0, this.#cursor + (key === "j" ? 1 : -1)));
    rows[this.#cursor]?.focus();
    return true;
  }

  /** Redelivers one delivery of a webhook, or all that are dead. */
  #redeliver(name: string, id?: string): void {
    this.#ask(null);
    const chosen = { kind: "delivery", receiver: name, ...(id !== undefined && { id }) } as const;
    void this.querySelector<Redelivery>("bridge-redelivery")?.start(chosen);
  }

  #ask(name: string | null): void {
    this.#asked = name;
    this.requestUpdate();
  }

  #showMore(): void {
    this.#pages += 1;
    this.#deliveries.refresh();
  }

  protected override render(): TemplateResult {
    const { value, error } = this.#webhooks;
    return html`
      <h1>Webhooks</h1>
      ${errorNote(error)} <bridge-redelivery .context=${this.context} .onChange=${() => this.#refresh()}></bridge-redelivery>
      ${value === undefined ? (error === null ? html`<p role="status">Loading …</p>` : nothing) : this.#renderWebhooks(value.data)}
      ${this.#selection().name === "" ? nothing : this.#renderSelected()}
    `;
  }

  #renderWebhooks(webhooks: readonly Webhook[]): TemplateResult {
    if (webhooks.length === 0) return renderFirstSteps();
    const { name: selected } = this.#selection();
    const now = serverNow();
    return html`<ul class="rows">
      ${webhooks.map(
        ({ name, origin, types, filter, pending, dead }) => html`<li class="webhook ${name === selected ? "selected" : ""}">
          <span>
            <a href=${linkTo(`webhooks?name=${encodeURIComponent(name)}`)} aria-current=${name === selected ? "true" : nothing}>${name}</a>
            ${origin}
          </span>
          ${count("pending", pending)} ${count("dead", dead)}
          <span class="detail">${types.join(", ")}${describeFilter(filter)}</span>
          ${this.#renderLast(name, now)}
        </li>`,
      )}
    </ul>`;
  }

  /** The newest delivery of a webhook, with its time and its result. */
  #renderLast(name: string, now: number): TemplateResult {
    const last = this.#webhooks.value?.last.get(name);
    if (last === undefined) return html`<span class="detail last">No delivery yet.</span>`;
    return html`<span class="detail last">Last delivery ${ago(last.updatedAt, now)}: ${last.state}, ${describeAttempts(last, now)}</span>`;
  }

  #renderSelected(): TemplateResult {
    const { name, state } = this.#selection();
    const { value, error } = this.#deliveries;
    const link = (other: string): string => linkTo(`webhooks?name=${encodeURIComponent(name)}&state=${other}`);
    return html`<section aria-labelledby="deliveries">
      <h2 id="deliveries">Deliveries to ${showHidden(name)}</h2>
      <p class="tabs">
        ${states.map((other) => html`<a class="tab" href=${link(other)} aria-current=${other === state ? "page" : nothing}>${other}${this.#countOf(name, other)}</a>`)}
      </p>
      ${errorNote(error)} ${state === "dead" ? this.#renderRedeliverAll(name) : nothing}
      ${this.#isCurrent(value) && value ? this.#renderDeliveries(value) : error === null ? html`<p role="status">Loading …</p>` : nothing}
    </section>`;
  }

  /** The number of deliveries in a state. Bridge does not count what is delivered. */
  #countOf(name: string, state: (typeof states)[number]): string {
    const webhook = this.#webhooks.value?.data.find((other) => other.name === name);
    if (webhook === undefined || state === "delivered") return "";
    return ` ${webhook[state]}${webhook[state] >= MAX_COUNTED ? "+" : ""}`;
  }

  #renderDeliveries({ name, state, data, meta }: Deliveries): TemplateResult {
    if (data.length === 0) return emptyState(Inbox, `No delivery is ${state}.`, describeEmpty(state));
    const now = serverNow();
    const canRedeliver = this.context.identity.scopes.includes("dispatch");
    const table = deliveryTable(data, {
      ...{ now, open: this.#open, onToggle: (id) => this.#toggle(id) },
      onRedeliver: canRedeliver ? (id) => this.#redeliver(name, id) : null,
    });
    return html`${table}
      ${meta.nextCursor === null ? nothing : html`<button class="plain" @click=${this.#showMore}>Show ${PAGE_LENGTH} more</button>`}`;
  }

  /** A button for all dead deliveries of a receiver that works again. */
  #renderRedeliverAll(name: string): TemplateResult | typeof nothing {
    const dead = this.#webhooks.value?.data.find((webhook) => webhook.name === name)?.dead ?? 0;
    if (dead === 0 || !this.context.identity.scopes.includes("dispatch")) return nothing;
    if (this.#asked !== name) return html`<p class="actions"><button @click=${() => this.#ask(name)}>Redeliver all dead</button></p>`;
    return html`<p class="actions">
      <span role="status">Redeliver ${countDead("delivery", dead, MAX_COUNTED)} to ${showHidden(name)}?</span>
      <button @click=${() => this.#redeliver(name)}>Yes, redeliver</button>
      <button @click=${() => this.#ask(null)}>No</button>
    </p>`;
  }
}

const describeEmpty = (state: string): string =>
  state === "dead"
    ? "Deliveries appear here when no retries are left."
    : state === "pending"
      ? "Deliveries appear here until the receiver accepts them."
      : "Deliveries appear here when the receiver has accepted them.";

const count = (state: "pending" | "dead", number: number): TemplateResult =>
  html`<span class="badge ${number === 0 ? "" : `callback-${state}`}">${number >= MAX_COUNTED ? "at least " : ""}${number} ${state}</span>`;

function describeFilter({ agentId, provider, labels = {} }: Webhook["filter"]): string {
  const conditions = Object.entries({ agent: agentId, adapter: provider, ...labels }).filter(([, value]) => value !== undefined);
  return conditions.length === 0 ? "" : ` · ${conditions.map(([name, value]) => `${name}=${value}`).join(", ")}`;
}

const renderFirstSteps = (): TemplateResult => html`
  ${emptyState(
    Bell,
    "Your tenant has no webhooks.",
    html`A webhook notifies another system of approvals, ends of tasks and dead callbacks. The operator lists webhooks in the file that
      <code>BRIDGE_WEBHOOKS_FILE</code> names, as docs/webhooks.md describes:`,
  )}
  <pre tabindex="0"><code>[
  {
    "name": "oncall",
    "url": "https://notify.example.com/bridge",
    "secrets": ["whsec_&lt;24 to 64 random bytes in base64&gt;"],
    "tenant": "default"
  }
]</code></pre>
`;

customElements.define("bridge-webhooks", Webhooks);
