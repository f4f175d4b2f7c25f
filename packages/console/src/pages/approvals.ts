import type { Approval } from "bridge-client";
import { html, nothing, type TemplateResult } from "lit";
import { repeat } from "lit/directives/repeat.js";
import { PageElement } from "../element.ts";
import { formatUpTo, showHidden } from "../format.ts";
import { poll } from "../live/poll.ts";
import { serverNow } from "../live/server-clock.ts";
import { age, ago, badge, errorNote } from "../parts/badges.ts";
import { describeQuestion } from "../parts/budget-question.ts";
import type { Decision } from "../parts/decision.ts";
import "../parts/decision.ts";
import { CircleCheck } from "lucide";
import { countdown } from "../parts/countdown.ts";
import { emptyState } from "../parts/empty-state.ts";
import { inputView } from "../parts/input-view.ts";
import { canAskToNotify } from "../parts/tab-signals.ts";
import { linkTo, taskLink } from "../router.ts";

const MAX_DECIDED = 100;
/** Decided approvals that stay among those that wait. */
const MAX_KEPT = 10;

/** The tool calls that wait for a decision, oldest first, and those that were decided. */
class Approvals extends PageElement {
  /** Approvals that waited while the page was open. They stay in place when they are decided, so that nothing moves under the mouse. */
  #cards = new Map<string, Approval>();
  #cursor: string | null = null;
  #ticker: ReturnType<typeof setInterval> | undefined;
  #unsubscribe: (() => void)[] = [];
  #latest = poll(this, async (signal) => {
    const page = await this.context.api.list<Approval>("/api/v2/approvals", { limit: MAX_DECIDED }, { signal });
    return page.data;
  });

  override connectedCallback(): void {
    super.connectedCallback();
    const { attention, feed } = this.context;
    this.#keepCards();
    this.#ticker = setInterval(() => this.requestUpdate(), 1000);
    this.#unsubscribe = [
      attention.subscribe(() => {
        this.#keepCards();
        this.requestUpdate();
      }),
      feed.subscribe((events) => {
        if (events?.some(({ approvalId }) => approvalId !== null) ?? true) this.#latest.refresh();
      }),
    ];
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    clearInterval(this.#ticker);
    for (const unsubscribe of this.#unsubscribe) unsubscribe();
  }

  #keepCards(): void {
    const { approvals, isLoaded } = this.context.attention.state;
    for (const approval of approvals) this.#cards.set(approval.approvalId, approval);
    if (!isLoaded) return;
    // A page that stays open for days must not collect every approval.
    const waiting = new Set(approvals.map(({ approvalId }) => approvalId));
    const over = [...this.#cards.keys()].filter((approvalId) => !waiting.has(approvalId) && approvalId !== this.#cursor);
    for (const approvalId of over.slice(0, -MAX_KEPT)) this.#cards.delete(approvalId);
  }

  override onKey(key: string, { repeat }: { repeat: boolean }): boolean {
    const ids = [...this.#cards.keys()];
    if ((key === "j" || key === "k") && ids.length > 0) {
      const index = this.#cursor === null ? -1 : ids.indexOf(this.#cursor);
      this.#cursor = ids[Math.min(ids.length - 1, Math.max(0, index + (key === "j" ? 1 : -1)))] ?? null;
      this.#forget();
      this.requestUpdate();
      void this.updateComplete.then(() => this.querySelector<HTMLElement>(".approval[aria-current]")?.focus());
      return true;
    }
    if (key === "Escape") return this.#forget();
    if (key !== "a" && key !== "r") return false;
    // A key that is held down is one press.
    if (repeat) return true;
    // Not by `aria-current`: the page may not have painted the selection yet, and the key must not decide about another call.
    const selector = this.#cursor === null ? null : `[data-approval="${CSS.escape(this.#cursor)}"] bridge-decision`;
    const decision = selector === null ? null : this.querySelector<Decision>(selector);
    decision?.press(key === "a" ? "approve" : "reject");
    return decision !== null;
  }

  /** Forgets what a key has asked for, on every card. Returns whether there was something. */
  #forget(): boolean {
    return [...this.querySelectorAll<Decision>("bridge-decision")].filter((decision) => decision.forget()).length > 0;
  }

  protected override render(): TemplateResult {
    const now = serverNow();
    const { state } = this.context.attention;
    const decided = (this.#latest.value ?? []).filter(({ approvalId, state }) => state !== "pending" && !this.#cards.has(approvalId));
    return html`
      <div class="page-head">
        <h1>Approvals <span class="hint">${formatUpTo(state.approvals.length, state.hasMoreApprovals)} waiting</span></h1>
        ${canAskToNotify() ? html`<button @click=${this.#askToNotify}>Notify me in this browser</button>` : nothing}
      </div>
      ${errorNote(this.#latest.error)} ${this.#cards.size === 0 && state.isLoaded ? renderEmpty() : nothing}
      <ol class="approvals">
        ${repeat(
          this.#cards.values(),
          ({ approvalId }) => approvalId,
          (approval) => this.#renderCard(approval, now),
        )}
      </ol>
      ${state.hasMoreApprovals ? html`<p class="hint">These are the oldest. Others appear when these are decided.</p>` : nothing}
      ${decided.length === 0 ? nothing : html`<h2>Decided</h2><ul class="rows decided-calls">${decided.map((approval) => renderDecided(approval, now))}</ul>`}
    `;
  }

  #renderCard(approval: Approval, now: number): TemplateResult {
    const { approvalId, kind, toolName, agentId, provider, taskId, title, input, inputTruncated, cwd, createdAt, expiresAt } = approval;
    const isPending = this.context.attention.state.approvals.some((other) => other.approvalId === approvalId);
    const outcome = this.#latest.value?.find((other) => other.approvalId === approvalId && other.state !== "pending");
    return html`<li
      class="approval ${isPending ? "" : "over"}" tabindex="-1" aria-current=${this.#cursor === approvalId ? "true" : nothing} data-approval=${approvalId}
      @focusin=${() => this.#select(approvalId)}
    >
      <h2><code>${showHidden(toolName)}</code></h2>
      <p class="detail">
        ${agentId} · ${provider} · <a href=${taskLink(taskId)}>${title === null ? nothing : html`${showHidden(title)} · `}${taskId}</a> · asked ${ago(createdAt, now)}
        ${isPending ? html`· ${countdown(expiresAt, now)}` : nothing}
      </p>
      ${cwd == null ? nothing : html`<p class="detail">Directory: <code>${showHidden(cwd)}</code></p>`}
      ${inputTruncated ? html`<p class="note warning">This is only the beginning of the input. It is longer than Bridge stores.</p>` : nothing}
      ${
        outcome === undefined || isPending
          ? html`<bridge-decision .approvalId=${approvalId} .kind=${kind} .input=${input} .isOver=${!isPending} .expiresAt=${expiresAt} .context=${this.context}></bridge-decision>`
          : html`${kind === "budget" ? html`<p>${describeQuestion(approval)}</p>` : inputView(input)}<p role="status">${badgeOf(outcome)} <span class="detail">${decider(outcome)}</span></p>`
      }
    </li>`;
  }

  #select(approvalId: string): void {
    this.#cursor = approvalId;
    this.requestUpdate();
  }

  async #askToNotify(): Promise<void> {
    await Notification.requestPermission();
    this.requestUpdate();
  }
}

const renderEmpty = (): TemplateResult =>
  emptyState(
    CircleCheck,
    "No tool call waits for a decision.",
    html`<span
      >An agent asks before its tool calls if its task is dispatched with <code>"approvals": "ask"</code>, as
      <code>docs/approvals.md</code> describes. <a href=${linkTo("new")}>Dispatch such a task</a></span
    >`,
  );

function renderDecided(approval: Approval, now: number): TemplateResult {
  const input = showHidden(describeQuestion(approval));
  return html`<li>
    ${badgeOf(approval)}
    <span class="call"><strong>${showHidden(approval.toolName)}</strong> <code title=${input}>${input}</code></span>
    <span class="detail">${decider(approval)} · <a href=${taskLink(approval.taskId)}>${showHidden(approval.title ?? approval.taskId)}</a></span>
    ${age(approval.createdAt, now)}
  </li>`;
}

const badgeOf = ({ state }: Approval): TemplateResult => badge(state, state === "approved" ? "✓" : "✕", state);

const decider = ({ decidedBy, reason, raiseByUsd }: Approval): string =>
  `by ${decidedBy ?? "?"}${raiseByUsd == null ? "" : `, raised by ${raiseByUsd} USD`}${reason === null || reason === "" ? "" : `: ${showHidden(reason)}`}`;

customElements.define("bridge-approvals", Approvals);
