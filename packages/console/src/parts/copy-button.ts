import { html, type TemplateResult } from "lit";

/** How long the button reports that the text was copied. */
const REPORT_MS = 2000;

/** Copies a text. Returns why it cannot; null if it did. Browsers offer the clipboard only to pages in a secure context. */
export async function copyText(text: string): Promise<string | null> {
  if (navigator.clipboard === undefined) return "Needs HTTPS";
  return navigator.clipboard.writeText(text).then(
    () => null,
    () => "Not permitted",
  );
}

/** A button that copies a text. */
export function copyButton(text: string, label = "Copy"): TemplateResult {
  const copy = (event: Event): void => {
    const button = event.currentTarget as HTMLButtonElement;
    void copyText(text).then((failure) => {
      button.textContent = failure ?? "Copied";
      setTimeout(() => {
        button.textContent = label;
      }, REPORT_MS);
    });
  };
  return html`<button @click=${copy} .textContent=${label}></button>`;
}
