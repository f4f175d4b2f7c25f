import { html, type TemplateResult } from "lit";

/** The lines of the logo, in a square of 32. */
export const LOGO_PATH = "M2 22h28M5 22a11 11 0 0 1 22 0M10 22v-8m6 8V11m6 11v-8";

/** Shows the logo, which precedes the name of Bridge. */
export const logo: TemplateResult = html`<svg class="icon" viewBox="0 0 32 32" fill="none" stroke="currentColor" stroke-width="3" aria-hidden="true">
  <path d=${LOGO_PATH} />
</svg>`;
