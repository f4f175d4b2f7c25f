import { html, type TemplateResult } from "lit";
import { Ellipsis } from "lucide";
import { icon } from "./icon.ts";

/** An entry of a menu. */
export interface MenuItem {
  name: string;
  run: () => void;
}

/** A button that opens a list of actions. It closes after an action, with Escape, and when the focus leaves it. */
export function menu(label: string, items: readonly MenuItem[]): TemplateResult {
  const close = (event: Event): void => (event.currentTarget as HTMLElement).closest("details")?.removeAttribute("open");
  const onFocusOut = (event: FocusEvent): void => {
    if (!(event.currentTarget as HTMLElement).contains(event.relatedTarget as Node | null)) close(event);
  };
  const onKey = (event: KeyboardEvent): void => {
    if (event.key !== "Escape") return;
    close(event);
    (event.currentTarget as HTMLElement).querySelector("summary")?.focus();
  };
  return html`<details class="menu" @focusout=${onFocusOut} @keydown=${onKey}>
    <summary aria-label=${label}>${icon(Ellipsis)}</summary>
    <ul>
      ${items.map(
        ({ name, run }) =>
          html`<li><button @click=${(event: Event) => {
            close(event);
            run();
          }}>${name}</button></li>`,
      )}
    </ul>
  </details>`;
}
