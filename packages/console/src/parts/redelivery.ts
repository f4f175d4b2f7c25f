import { html, nothing, type TemplateResult } from "lit";
import { X } from "lucide";
import { ApiError } from "../api.ts";
import { BridgeElement } from "../element.ts";
import { showHidden } from "../format.ts";
import { countDead, countOpen, type Open, type Redelivered, redeliverAll } from "../live/redeliver.ts";
import type { ConsoleContext } from "../session.ts";
import { icon } from "./icon.ts";

/** How often the outcome is read while attempts are pending. */
const INTERVAL_MS = 2_000;

/** Redelivers what is dead, and shows what became of it until a person closes it. */
export class Redelivery extends BridgeElement {
  static override properties = { context: { attribute: false }, onChange: { attribute: false } };
  declare context: ConsoleContext;
  /** Called when the outcome has changed. */
  declare onChange: (() => void) | undefined;
  #text = "";
  #kind: "info" | "warning" | "error" = "info";
  #watching: AbortController | null = null;

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.#watching?.abort();
  }

  /** Starts a redelivery, whose outcome replaces the one that is shown. */
  async start(chosen: Redelivered): Promise<void> {
    this.#watching?.abort();
    this.#watching = new AbortController();
    const { signal } = this.#watching;
    const { api, attention } = this.context;
    this.#show(`Redelivery to ${nameReceiver(chosen)} …`);
    try {
      const started = await redeliverAll(api, chosen);
      attention.refresh();
      for (let isOpen = true; isOpen && !signal.aborted; ) {
        const open = await countOpen(api, chosen, signal);
        isOpen = open.pending > 0;
        this.#show(describe(chosen, started, open), started > 0 && open.dead > 0 ? "warning" : "info");
        this.onChange?.();
        if (isOpen) await new Promise((resolve) => setTimeout(resolve, INTERVAL_MS));
      }
      attention.refresh();
    } catch (error) {
      if (!signal.aborted) this.#show(error instanceof ApiError ? error.message : String(error), "error");
    }
  }

  #show(text: string, kind: "info" | "warning" | "error" = "info"): void {
    this.#text = text;
    this.#kind = kind;
    this.requestUpdate();
  }

  #close(): void {
    this.#watching?.abort();
    this.#show("");
  }

  protected override render(): TemplateResult | typeof nothing {
    if (this.#text === "") return nothing;
    return html`<div class="note ${this.#kind} closable">
      <span role=${this.#kind === "error" ? "alert" : "status"}>${showHidden(this.#text)}</span>
      <button class="plain" aria-label="Close the message" @click=${() => this.#close()}>${icon(X)}</button>
    </div>`;
  }
}

function describe(chosen: Redelivered, started: number, open: Open): string {
  const [pending, dead] = [Math.min(open.pending, started), Math.min(open.dead, started)];
  const delivered = Math.max(0, started - pending - dead);
  // Of more than can be counted, the rest is not known to be delivered.
  const atLeast = open.isCapped ? "at least " : "";
  const parts = [
    ...(delivered > 0 && !open.isCapped ? [`${delivered} delivered`] : []),
    ...(dead > 0 ? [`${atLeast}${dead} still failing`] : []),
    ...(pending > 0 ? [`${atLeast}${pending} pending`] : []),
  ];
  return `Redelivery of ${countDead(chosen.kind, started)} to ${nameReceiver(chosen)}: ${parts.join(", ") || (started === 0 ? "nothing was dead" : "started")}.`;
}

const nameReceiver = ({ receiver }: Redelivered): string => receiver ?? "all receivers";

customElements.define("bridge-redelivery", Redelivery);
