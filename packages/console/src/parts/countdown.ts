import { html, type TemplateResult } from "lit";
import { formatDuration } from "../format.ts";
import { hasExpired } from "../task-state.ts";

/** Shows how long a tool call still waits before Bridge rejects it. */
export function countdown(expiresAt: string | null, now: number): TemplateResult {
  if (expiresAt === null) return html`<span class="countdown">waits without a time limit</span>`;
  const leftMs = Date.parse(expiresAt) - now;
  return hasExpired({ expiresAt }, now)
    ? html`<span class="countdown">expired</span>`
    : html`<span class="countdown">auto-rejects in ${formatDuration(Math.ceil(leftMs / 1000) * 1000)}</span>`;
}
