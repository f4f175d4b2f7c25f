import { html, nothing, type TemplateResult } from "lit";
import { formatAge, formatAgo, formatFullTime, formatTime, showHidden } from "../format.ts";
import { type Activity, activities } from "../task-state.ts";

/** Shows what a task does. */
export function activityBadge(activity: Activity): TemplateResult {
  const { label, sign } = activities[activity];
  return badge(activity, sign, label);
}

/** Shows a state by a word, a color, and a sign unless it is empty. */
export const badge = (kind: string, sign: string, label: string): TemplateResult =>
  html`<span class="badge ${kind}">${sign === "" ? nothing : html`<span aria-hidden="true">${sign}</span> `}<span class="word">${label}</span></span>`;

const callbackSigns = { pending: "…", delivered: "✓", dead: "✕" } as const;

/** Shows the state of a callback; nothing if the task has none. */
export const callbackBadge = (callback: { state: keyof typeof callbackSigns } | null): TemplateResult | typeof nothing =>
  callback === null ? nothing : badge(`callback-${callback.state}`, callbackSigns[callback.state], callback.state);

const healthSigns = { healthy: "✓", degraded: "!", offline: "✕" } as const;

/** Shows the health of an adapter. */
export const healthBadge = (status: keyof typeof healthSigns): TemplateResult => badge(`health-${status}`, healthSigns[status], status);

/** Shows how long ago a time was, with the time and its zone as a tooltip. */
export const age = (iso: string | null, now: number): TemplateResult | typeof nothing =>
  iso === null ? nothing : html`<time datetime=${iso} title=${formatFullTime(iso)}>${formatAge(iso, now)}</time>`;

/** Shows in a sentence how long ago a time was: `just now`, or `12 s ago`. */
export const ago = (iso: string, now: number): TemplateResult =>
  html`<time datetime=${iso} title=${formatFullTime(iso)}>${formatAgo(iso, now)}</time>`;

/** Shows a time of the day, with the date if it is another day than today, and with the time zone as a tooltip. */
export const timeOf = (iso: string, now: number): TemplateResult =>
  html`<time datetime=${iso} title=${formatFullTime(iso)}>${formatTime(iso, now)}</time>`;

/** Shows that a request failed. */
export const errorNote = (error: { message: string } | null | undefined): TemplateResult | typeof nothing =>
  error === null || error === undefined ? nothing : html`<p class="note error" role="alert">${showHidden(error.message)}</p>`;
