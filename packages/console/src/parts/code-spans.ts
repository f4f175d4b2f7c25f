import { html, type TemplateResult } from "lit";
import { showHidden } from "../format.ts";

/** Shows a text whose names of fields, settings and files are in backticks. */
export const codeSpans = (text: string): (TemplateResult | string)[] =>
  text.split("`").map((part, index) => (index % 2 === 1 ? html`<code>${showHidden(part)}</code>` : showHidden(part)));
