import { html, type TemplateResult } from "lit";

/** How long the button reports that the text was copied. */
const REPORT_MS = 2000;

/** A button that copies a text. Browsers offer the clipboard only to pages in a secure context. */
export function copyButton(text: string, label = "Copy"): TemplateResult {
  const copy = (event: Event): void => {
    const button = event.currentTarget as HTMLButtonElement;
    const report = (result: string): void => {
      button.textContent = result;
      setTimeout(() => {
        button.textContent = label;
      }, REPORT_MS);
    };
    if (navigator.clipboard === undefined) report("Needs HTTPS");
    else
      void navigator.clipboard.writeText(text).then(
        () => report("Copied"),
        () => report("Not permitted"),
      );
  };
  return html`<button @click=${copy} .textContent=${label}></button>`;
}
