import { html, nothing, type PropertyValues, type TemplateResult } from "lit";
import { BridgeElement } from "../element.ts";
import { formatDuration, showHidden } from "../format.ts";
import type { ToolCall } from "../timeline.ts";
import { describeInput } from "../timeline-rows.ts";
import { badge } from "./badges.ts";
import { inputView } from "./input-view.ts";
import { type Axis, lane } from "./lane.ts";
import { longText } from "./long-text.ts";

/** A tool call. Its input and output are rendered when it is opened. */
class Call extends BridgeElement {
  static override properties = {
    ...{ call: { attribute: false }, revision: { attribute: false }, offset: { attribute: false }, axis: { attribute: false } },
    ...{ now: { attribute: false }, isRunning: { attribute: false }, isForced: { attribute: false } },
  };
  declare call: ToolCall;
  /** Changes with the call, which is the same object. */
  declare revision: string;
  /** Time since the start of the task, such as `+12 s`. */
  declare offset: string;
  declare axis: Axis;
  /** The time while the call runs; 0 after its end. */
  declare now: number;
  declare isRunning: boolean;
  /** Whether all calls are open. */
  declare isForced: boolean;
  #isOpen = false;

  protected override willUpdate(changed: PropertyValues<this>): void {
    if (changed.has("isForced") && changed.get("isForced") !== undefined) this.#isOpen = this.isForced;
    else if (this.isForced && !this.hasUpdated) this.#isOpen = true;
  }

  protected override render(): TemplateResult {
    const { toolName, input, isError, completedAt, invokedAt, approval } = this.call;
    const isCutOff = this.call.isCutOff || (completedAt === null && !this.isRunning);
    const from = Date.parse(invokedAt);
    const to = completedAt === null ? (this.isRunning ? this.now : this.axis.start + this.axis.length) : Date.parse(completedAt);
    const length = formatDuration(to - from);
    const duration = isCutOff ? "cut off" : completedAt === null ? `running for ${length}` : length;
    const kind = isCutOff ? "cut" : isError ? "failed" : completedAt === null ? "open" : "";
    const wait =
      approval && ([Date.parse(approval.requestedAt), approval.resolvedAt === null ? to : Date.parse(approval.resolvedAt)] as const);
    const waited = wait && `, ${formatDuration(wait[1] - wait[0])} of it waiting for approval`;
    return html`<details class=${isError ? "is-error" : ""} ?open=${this.#isOpen} @toggle=${this.#onToggle}>
      <summary>
        <span class="offset">${this.offset}</span>
        <span class="line" title=${showHidden(describeInput(input))}
          ><code class="tool">${showHidden(toolName)}</code> <span class="input">${showHidden(describeInput(input))}</span> ${isError ? badge("failed", "✕", "error") : nothing}</span
        >
        ${lane(this.axis, from, to, { label: `${duration}${waited ?? ""}`, kind, wait })}
        <span class="time ${kind}">${duration}</span>
      </summary>
      ${this.#isOpen ? this.#renderBody() : nothing}
    </details>`;
  }

  #onToggle(event: ToggleEvent): void {
    const isOpenNow = event.newState === "open";
    if (isOpenNow === this.#isOpen) return;
    this.#isOpen = isOpenNow;
    this.requestUpdate();
  }

  #renderBody(): TemplateResult {
    const { input, output, completedAt, isTruncated } = this.call;
    return html`<div class="body">
      ${isTruncated ? html`<p class="note warning">Bridge cut this call, because it is longer than an event may be.</p>` : nothing}
      <h4>Input</h4>
      ${inputView(input)}
      ${completedAt === null ? nothing : html`<h4>Output</h4>${longText(output)}`}
    </div>`;
  }
}

customElements.define("bridge-call", Call);
