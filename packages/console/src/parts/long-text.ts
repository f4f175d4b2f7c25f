import { html, type PropertyValues, type TemplateResult } from "lit";
import { BridgeElement } from "../element.ts";
import { formatBytes, formatValue, showHidden } from "../format.ts";
import { saveFile } from "./save-file.ts";

const FIRST_CHARACTERS = 20_000;
const MORE_CHARACTERS = 50_000;

/**
 * Shows a text of an agent as text, whatever it contains. A long text is shown in parts, so that it does not block the page, and can be
 * saved as a whole.
 */
class LongText extends BridgeElement {
  static override properties = { value: { attribute: false }, showsEnd: { attribute: false } };
  declare value: unknown;
  /** Whether a part of the text is its end, because the text still grows. */
  declare showsEnd: boolean;
  #text = "";
  #shown = FIRST_CHARACTERS;

  protected override willUpdate(changed: PropertyValues): void {
    // Formatting megabytes of JSON takes long, and the page is rendered every second.
    if (changed.has("value")) this.#text = formatValue(this.value);
  }

  protected override render(): TemplateResult {
    const rest = this.#text.length - this.#shown;
    const part = this.showsEnd ? this.#text.slice(-this.#shown) : this.#text.slice(0, this.#shown);
    const block = html`<pre tabindex="0">${showHidden(part)}</pre>`;
    if (rest <= 0) return block;
    const more = html`<p class="more">
      <button @click=${this.#showMore}>Show more (${formatBytes(rest)} left)</button>
      <button @click=${this.#save}>Save the whole text</button>
    </p>`;
    return this.showsEnd ? html`${more}${block}` : html`${block}${more}`;
  }

  #showMore(): void {
    this.#shown += MORE_CHARACTERS;
    this.requestUpdate();
  }

  #save(): void {
    saveFile(new Blob([this.#text], { type: "text/plain;charset=utf-8" }), "text.txt");
  }
}

customElements.define("bridge-long-text", LongText);

/** Shows a text of an agent, or another value as JSON. An object that is the same as before is not formatted again. */
export const longText = (value: unknown, { showsEnd = false } = {}): TemplateResult =>
  html`<bridge-long-text .value=${value} .showsEnd=${showsEnd}></bridge-long-text>`;
