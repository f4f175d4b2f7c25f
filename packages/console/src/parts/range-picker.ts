import { html, nothing, type TemplateResult } from "lit";
import { CalendarDays } from "lucide";
import { navigate } from "../router.ts";
import { toDay, type UsageRange, type UsageWindow, windowNames } from "../usage-range.ts";
import { icon } from "./icon.ts";

/** Ranges that have a tab; others are in the menu. */
const tabs: readonly UsageWindow[] = ["today", "yesterday", "7d", "30d"];
const inMenu: readonly UsageWindow[] = ["90d", "365d"];

/** Chooses a range of days: tabs for the usual ones, and a menu with longer ones and two dates. */
export function rangePicker(range: UsageRange, { toLink, now }: { toLink: (range: UsageRange) => string; now: number }): TemplateResult {
  const link = (window: UsageWindow, kind: string): TemplateResult =>
    html`<a class=${kind} href=${toLink(window)} aria-current=${window === range ? "true" : nothing}>${windowNames[window]}</a>`;
  const isOther = typeof range !== "string" || inMenu.includes(range);
  const other = typeof range === "string" ? windowNames[range] : range.from === range.to ? range.from : `${range.from} – ${range.to}`;
  const days = typeof range === "string" ? { from: "", to: "" } : range;
  const close = (event: Event): void => (event.currentTarget as HTMLElement).closest("details")?.removeAttribute("open");
  const onSubmit = (event: SubmitEvent): void => {
    event.preventDefault();
    const form = new FormData(event.currentTarget as HTMLFormElement);
    const [from, to] = ["from", "to"].map((name) => String(form.get(name) ?? ""));
    if (from === undefined || from === "") return;
    close(event);
    navigate(toLink({ from, to: to === undefined || to === "" ? from : to }));
  };
  const onFocusOut = (event: FocusEvent): void => {
    if (!(event.currentTarget as HTMLElement).contains(event.relatedTarget as Node | null)) close(event);
  };
  const onKey = (event: KeyboardEvent): void => {
    if (event.key !== "Escape") return;
    close(event);
    (event.currentTarget as HTMLElement).querySelector("summary")?.focus();
  };
  return html`<div class="range-picker">
    <nav class="tabs" aria-label="Range">${tabs.map((window) => link(window, "tab"))}</nav>
    <details class="menu" @focusout=${onFocusOut} @keydown=${onKey}>
      <summary class=${isOther ? "used" : ""}>${icon(CalendarDays)} <span class=${isOther ? "" : "range-word"}>${isOther ? other : "Range"}</span></summary>
      <div class="range-panel" tabindex="-1">
        <p class="tabs" @click=${close}>${inMenu.map((window) => link(window, "tab"))}</p>
        <form @submit=${onSubmit}>
          <label>From <input type="date" name="from" .value=${days.from} max=${toDay(new Date(now))} required /></label>
          <label>To <input type="date" name="to" .value=${days.to} max=${toDay(new Date(now))} /></label>
          <button class="primary" type="submit">Show</button>
        </form>
      </div>
    </details>
  </div>`;
}
