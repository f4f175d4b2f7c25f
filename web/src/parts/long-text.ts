import { html, nothing, type TemplateResult } from "lit";
import { BridgeElement } from "../element.ts";
import { formatBytes, showHidden } from "../format.ts";

const FIRST_CHARACTERS = 20_000;
const MORE_CHARACTERS = 200_000;

/** Shows a text of an agent as text, whatever it contains. A long text is shown in parts, so that it does not block the page. */
class LongText extends BridgeElement {
  static override properties = { text: { attribute: false }, showsEnd: { attribute: false } };
  declare text: string;
  /** Whether a part of the text is its end, because the text still grows. */
  declare showsEnd: boolean;
  #shown = FIRST_CHARACTERS;

  protected override render(): TemplateResult {
    const rest = this.text.length - this.#shown;
    const part = this.showsEnd ? this.text.slice(-this.#shown) : this.text.slice(0, this.#shown);
    const more = rest <= 0 ? nothing : html`<button @click=${this.#showMore}>Show more (${formatBytes(rest)} left)</button>`;
    const block = html`<pre tabindex="0">${showHidden(part)}</pre>`;
    return this.showsEnd ? html`${more}${block}` : html`${block}${more}`;
  }

  #showMore(): void {
    this.#shown += MORE_CHARACTERS;
    this.requestUpdate();
  }
}

customElements.define("bridge-long-text", LongText);

/** Shows a text of an agent. */
export const longText = (text: string, { showsEnd = false } = {}): TemplateResult =>
  html`<bridge-long-text .text=${text} .showsEnd=${showsEnd}></bridge-long-text>`;
