import { html, type TemplateResult } from "lit";
import type { IconNode } from "lucide";
import { icon } from "./icon.ts";

/** Shows that a list is empty: an icon, one sentence, and what to do next. */
export const emptyState = (sign: IconNode, sentence: string, next: TemplateResult | string): TemplateResult =>
  html`<div class="empty-state">${icon(sign)}<p><strong>${sentence}</strong></p><p class="empty">${next}</p></div>`;
