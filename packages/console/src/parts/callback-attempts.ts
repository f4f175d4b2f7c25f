import type { CallbackAttempt, CallbackDetails } from "bridge-client";
import { html, nothing, type TemplateResult } from "lit";
import { formatDuration, showHidden } from "../format.ts";
import { timeOf } from "./badges.ts";
import { longText } from "./long-text.ts";

/** Shows the last attempts of a callback, the newest first, with what the receiver answered. */
export function callbackAttempts({ attempts, history }: CallbackDetails, now: number): TemplateResult | typeof nothing {
  if (history.length === 0) return nothing;
  const missing = attempts - history.length;
  return html`<section aria-labelledby="attempts">
    <h2 id="attempts">Callback attempts <span class="hint">${attempts}</span></h2>
    <ul class="rows attempts">
      ${history.toReversed().map((attempt) => renderAttempt(attempt, now))}
    </ul>
    ${missing === 0 ? nothing : html`<p class="hint">Earlier attempts are no longer stored: ${missing}.</p>`}
  </section>`;
}

function renderAttempt(
  { number, at, status, error, durationMs, response, responseTruncated }: CallbackAttempt,
  now: number,
): TemplateResult {
  return html`<li>
    <strong>${number}</strong> <span>${status === null ? "no response" : `HTTP ${status}`}</span>
    <span class="detail">${error === null ? "delivered" : showHidden(error)}, ${formatDuration(durationMs)}</span>
    ${timeOf(at, now)}
    ${
      response === null || response === ""
        ? nothing
        : html`<details>
            <summary>Response ${responseTruncated ? html`<span class="hint">beginning</span>` : nothing}</summary>
            ${longText(response)}
          </details>`
    }
  </li>`;
}
