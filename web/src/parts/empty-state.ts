import { html, type TemplateResult } from "lit";
import type { IconNode } from "lucide";
import { icon } from "./icon.ts";

/** Shows that a list is empty, and what a person can do next. */
export const emptyState = (sign: IconNode, sentence: string, next: TemplateResult): TemplateResult =>
  html`<div class="empty-state">${icon(sign)}<p>${sentence}</p><p class="actions">${next}</p></div>`;
