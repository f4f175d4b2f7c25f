import { html, nothing, type TemplateResult } from "lit";
import { X } from "lucide";
import { ApiError } from "../api.ts";
import { BridgeElement } from "../element.ts";
import { showHidden } from "../format.ts";
import { countDead, countOpen, type Receiver, redeliverAll } from "../live/redeliver.ts";
import type { ConsoleContext } from "../session.ts";
import { icon } from "./icon.ts";

/** How often the outcome is read while attempts are pending. */
const INTERVAL_MS = 2_000;

/** Redelivers all that is dead of a receiver, and shows what became of it until a person closes it. */
export class Redelivery extends BridgeElement {
  static override properties = { context: { attribute: false } };
  declare context: ConsoleContext;
  #text = "";
  #isError = false;
  #watching: AbortController | null = null;

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.#watching?.abort();
  }

  /** Starts a redelivery, whose outcome replaces the one that is shown. */
  async start(receiver: Receiver): Promise<void> {
    this.#watching?.abort();
    this.#watching = new AbortController();
    const { signal } = this.#watching;
    const { api, attention } = this.context;
    this.#show(`Redelivery to ${receiver.receiver} …`);
    try {
      const started = await redeliverAll(api, receiver);
      attention.refresh();
      for (let isOpen = true; isOpen && !signal.aborted; ) {
        const { pending, dead } = await countOpen(api, receiver, signal);
        isOpen = pending > 0;
        this.#show(describe(receiver, started, { pending: Math.min(pending, started), dead: Math.min(dead, started) }));
        if (isOpen) await new Promise((resolve) => setTimeout(resolve, INTERVAL_MS));
      }
      attention.refresh();
    } catch (error) {
      if (!signal.aborted) this.#show(error instanceof ApiError ? error.message : String(error), true);
    }
  }

  #show(text: string, isError = false): void {
    this.#text = text;
    this.#isError = isError;
    this.requestUpdate();
  }

  #close(): void {
    this.#watching?.abort();
    this.#show("");
  }

  protected override render(): TemplateResult | typeof nothing {
    if (this.#text === "") return nothing;
    return html`<div class="note ${this.#isError ? "error" : "info"} closable">
      <span role=${this.#isError ? "alert" : "status"}>${showHidden(this.#text)}</span>
      <button class="plain" aria-label="Close the message" @click=${() => this.#close()}>${icon(X)}</button>
    </div>`;
  }
}

function describe({ kind, receiver }: Receiver, started: number, { pending, dead }: { pending: number; dead: number }): string {
  const delivered = Math.max(0, started - pending - dead);
  const parts = [
    ...(delivered > 0 ? [`${delivered} delivered`] : []),
    ...(dead > 0 ? [`${dead} still failing`] : []),
    ...(pending > 0 ? [`${pending} pending`] : []),
  ];
  return `Redelivery of ${countDead(kind, started)} to ${receiver}: ${parts.join(", ") || "nothing was dead"}.`;
}

customElements.define("bridge-redelivery", Redelivery);
