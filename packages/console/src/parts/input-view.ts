import { html, type TemplateResult } from "lit";
import { showHidden } from "../format.ts";
import { longText } from "./long-text.ts";

/** Shows the input of a tool. Each text of an object is shown as it is, because JSON hides the line breaks of a command or a file. */
export function inputView(input: unknown): TemplateResult {
  if (typeof input !== "object" || input === null || Array.isArray(input)) return longText(input);
  const fields = Object.entries(input);
  if (fields.length === 0) return html`<p class="hint">No input.</p>`;
  return html`<dl class="input-fields">
    ${fields.map(([name, value]) => html`<div><dt>${showHidden(name)}</dt><dd>${longText(value)}</dd></div>`)}
  </dl>`;
}
