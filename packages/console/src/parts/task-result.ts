import type { Task } from "bridge-client";
import { html, nothing, type TemplateResult } from "lit";
import type { RequestView } from "../live/task-loader.ts";
import type { Timeline } from "../timeline.ts";
import { longText } from "./long-text.ts";
import { markdownText } from "./markdown-text.ts";

/** A text that the page shows outside of the timeline, which therefore does not repeat it. */
export interface ShownText {
  text: string;
  /** What stands for it in the timeline. */
  note: string;
}

/** Returns the text that the page shows above the timeline: the error of a failed task, or the answer of another one. */
export function findShownText({ result, state }: Task): ShownText | null {
  if (result === null) return null;
  if (state === "completed")
    return result.output ? { text: result.output.trim(), note: "The answer, which is shown as the result." } : null;
  return result.error ? { text: result.error.trim(), note: "The error, which is shown above." } : null;
}

/** Shows the result of a task. It is folded if the page shows the same in another form; nothing if the timeline and the error show all. */
export function taskResult(
  { result, state }: Task,
  timeline: Timeline,
  { isFolded }: { isFolded: boolean },
): TemplateResult | typeof nothing {
  if (result === null) return nothing;
  const { error, output = "", outputs } = result;
  const isRepeated = state !== "completed" && (output.trim() === (error ?? "").trim() || hasText(timeline, output.trim()));
  const text = output === "" || isRepeated ? nothing : markdownText(skipFrontMatter(output), { level: 3 });
  if (state !== "completed" && text === nothing && outputs === undefined) return nothing;
  return html`<section aria-labelledby="result">
    <h2 id="result">${state === "completed" ? "Result" : "Output before the end"}</h2>
    ${isFolded && text !== nothing ? html`<details><summary>The whole report</summary>${text}</details>` : text}
    ${outputs === undefined ? nothing : html`<details ?open=${output === ""}><summary>Structured output</summary>${longText(outputs)}</details>`}
    ${text === nothing && outputs === undefined ? html`<p class="empty">No output.</p>` : nothing}
  </section>`;
}

const hasText = ({ turns }: Timeline, text: string): boolean =>
  turns.some(({ entries }) => entries.some((entry) => entry.kind === "text" && !entry.isDiscarded && entry.text.trim() === text));

/** Returns a text without the YAML block at its beginning, whose fields the page shows elsewhere. */
const skipFrontMatter = (text: string): string => text.replace(/^---\n(?:[\w-]+: .*\n)+---\n/, "");

/** Shows the request of a task: its message, and all fields when they are opened. */
export function taskRequest({ message, fields }: RequestView): TemplateResult {
  return html`<section aria-labelledby="request">
    <h2 id="request">Request</h2>
    ${typeof message === "string" && message !== "" ? longText(message) : nothing}
    <details><summary>All fields</summary>${longText(fields)}</details>
  </section>`;
}
