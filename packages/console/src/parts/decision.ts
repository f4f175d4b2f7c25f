import type { Approval } from "bridge-client";
import { html, nothing, type PropertyValues, type TemplateResult } from "lit";
import { ApiError } from "../api.ts";
import { BridgeElement } from "../element.ts";
import { showHidden } from "../format.ts";
import { serverNow } from "../live/server-clock.ts";
import type { ConsoleContext } from "../session.ts";
import { hasExpired } from "../task-state.ts";
import { errorNote } from "./badges.ts";
import { describeQuestion, raiseField } from "./budget-question.ts";
import { excerptOf } from "./excerpt.ts";
import { inputView } from "./input-view.ts";

type Choice = "approve" | "reject";

/** How long the second press of a key can follow the first one. */
const CONFIRM_MS = 5000;
/** Height of a button. If the window has no room for the excerpt and this, the end of the excerpt suffices. */
const BUTTON_PX = 40;
/** Shares of the excerpt at which the browser reports that it moved into view or out of it. */
const THRESHOLDS = Array.from({ length: 51 }, (_, index) => index / 50);

/**
 * The input of a tool call or what a task has spent of its budget, and the buttons that approve or reject it, with a reason. The button
 * that approves exists only while the input, or the excerpt of a long one, is in view.
 */
export class Decision extends BridgeElement {
  static override properties = {
    approvalId: { attribute: false },
    kind: { attribute: false },
    input: { attribute: false },
    isOver: { attribute: false },
    expiresAt: { attribute: false },
    context: { attribute: false },
  };
  declare approvalId: string;
  /** Undefined for a tool call. */
  declare kind: Approval["kind"] | undefined;
  declare input: unknown;
  /** Whether the tool call no longer waits. */
  declare isOver: boolean | undefined;
  /** When Bridge rejects the tool call; null if it waits without a time limit. */
  declare expiresAt: string | null;
  declare context: ConsoleContext;
  #excerpt: string | null = null;
  #isInView = false;
  #observed: Element | null = null;
  #observer = new IntersectionObserver(() => this.#look(), { threshold: THRESHOLDS });
  /** What a key has asked for, and what the next press of it confirms. */
  #asked: Choice | null = null;
  #askedTimer: ReturnType<typeof setTimeout> | undefined;
  #pending: Choice | null = null;
  #outcome = "";
  #error: ApiError | null = null;

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.#observer.disconnect();
    this.#observed = null;
    clearTimeout(this.#askedTimer);
  }

  /** Asks whether to decide so; a second press of the key within a few seconds decides. */
  press(choice: Choice): void {
    if (this.#asked === choice && (choice === "reject" || this.#look())) {
      this.forget();
      void this.#decide(choice);
      return;
    }
    this.forget();
    if (this.#isClosed()) return;
    this.#asked = choice;
    this.#askedTimer = setTimeout(() => this.forget(), CONFIRM_MS);
    this.#showInput();
    this.requestUpdate();
  }

  /** Forgets what a key has asked for. Returns whether there was something. */
  forget(): boolean {
    const hadAsked = this.#asked !== null;
    clearTimeout(this.#askedTimer);
    this.#asked = null;
    if (hadAsked) this.requestUpdate();
    return hadAsked;
  }

  #isClosed(): boolean {
    return this.#pending !== null || this.#outcome !== "" || this.isOver === true || !this.#mayDecide();
  }

  #mayDecide(): boolean {
    return this.context.identity.scopes.includes("approve");
  }

  /** Returns whether the input is in view, or the excerpt of a long one. */
  #look(): boolean {
    const { top, bottom, height } = this.#observed?.getBoundingClientRect() ?? new DOMRect();
    const fits = height + BUTTON_PX <= innerHeight;
    const isInView = height > 0 && (top >= -1 || !fits) && bottom > 0 && bottom <= innerHeight + 1;
    if (isInView !== this.#isInView) {
      this.#isInView = isInView;
      this.requestUpdate();
    }
    return isInView;
  }

  #showInput(): void {
    this.#observed?.scrollIntoView({ block: "nearest" });
    // The observer does not report an input that moved out of view and back between two frames.
    requestAnimationFrame(() => this.#look());
  }

  /** The page may have moved since it was painted, so that the person has not seen what is above the button. */
  #approve(): void {
    if (this.#isInView && this.#look()) void this.#decide("approve");
    else this.#showInput();
  }

  /** Sends the decision. The first decision applies; if it was another one, shows whose. */
  async #decide(decision: Choice): Promise<void> {
    if (this.#isClosed()) return;
    this.#pending = decision;
    this.#error = null;
    this.requestUpdate();
    const { api, attention } = this.context;
    const reason = this.#valueOf("reason");
    const raise = decision === "approve" ? this.#valueOf("raise") : "";
    const path = `/api/v2/approvals/${encodeURIComponent(this.approvalId)}`;
    try {
      const body = { decision, ...(reason !== "" && { reason }), ...(raise !== "" && { raiseByUsd: Number(raise) }) };
      this.#outcome = describe(await api.call<Approval>(path, { method: "POST", body }));
    } catch (error) {
      if (error instanceof ApiError && error.code === "already_decided") this.#outcome = error.message;
      else this.#error = error instanceof ApiError ? error : new ApiError(0, "unexpected", String(error));
    }
    this.#pending = null;
    attention.refresh();
    this.requestUpdate();
  }

  #valueOf(name: "reason" | "raise"): string {
    return this.querySelector<HTMLInputElement>(`input[name=${name}]`)?.value.trim() ?? "";
  }

  #renderInput(): TemplateResult {
    return this.kind === "budget" ? html`<p>${describeQuestion(this)}</p>` : inputView(this.input);
  }

  protected override willUpdate(changed: PropertyValues): void {
    if (changed.has("input") || changed.has("kind")) this.#excerpt = this.kind === "budget" ? null : excerptOf(this.input);
  }

  protected override updated(): void {
    const shown = this.querySelector(".shown-input");
    if (shown === this.#observed) return;
    this.#observer.disconnect();
    this.#observed = shown;
    if (shown !== null) this.#observer.observe(shown);
  }

  protected override render(): TemplateResult {
    if (this.#outcome !== "") return html`${this.#renderInput()}<p class="note info" role="status">${showHidden(this.#outcome)}</p>`;
    if (this.isOver === true && this.#pending === null)
      return html`${this.#renderInput()}
        <p class="hint" role="status">
          ${
            hasExpired(this, serverNow())
              ? "The time for a decision is over, so Bridge rejects the call."
              : "No longer waiting. The timeline of the task shows the decision."
          }
        </p>`;
    if (!this.#mayDecide()) return html`${this.#renderInput()}<p class="hint">Your token cannot decide approvals.</p>`;
    const isPending = this.#pending !== null;
    return html`
      ${this.#excerpt === null ? nothing : inputView(this.input)}
      <div class="shown-input">
        ${this.#excerpt === null ? this.#renderInput() : html`<p class="hint">First and last line</p><pre>${this.#excerpt}</pre>`}
      </div>
      <div class="decision">
        ${raiseField(this)}
        <input name="reason" aria-label="Reason" placeholder="Reason (optional)" maxlength="2000" autocomplete="off" />
        <button class="primary" ?disabled=${isPending} @click=${this.#approve}>${this.#isInView ? "Approve" : "Show the input"}</button>
        <button class="danger" ?disabled=${isPending} @click=${() => this.#decide("reject")}>Reject</button>
        <span role="status">${isPending ? "Sending …" : this.#describeAsked()}</span>
      </div>
      ${errorNote(this.#error)}
    `;
  }

  #describeAsked(): TemplateResult | typeof nothing {
    if (this.#asked === null) return nothing;
    return html`Press <kbd>${this.#asked === "approve" ? "a" : "r"}</kbd> again to ${this.#asked}, <kbd>Esc</kbd> to keep it waiting.`;
  }
}

customElements.define("bridge-decision", Decision);

const describe = ({ state, decidedBy, reason }: Approval): string =>
  `${state} by ${decidedBy ?? "?"}${reason === null || reason === "" ? "" : `: ${reason}`}`;
