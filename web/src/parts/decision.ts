import type { Approval } from "bridge-client";
import { html, nothing, type TemplateResult } from "lit";
import { ApiError } from "../api.ts";
import { BridgeElement } from "../element.ts";
import { showHidden } from "../format.ts";
import type { ConsoleContext } from "../session.ts";
import { errorNote } from "./badges.ts";

/** The buttons that approve or reject a tool call, with a reason. */
export class Decision extends BridgeElement {
  static override properties = { approvalId: { attribute: false }, isOver: { attribute: false }, context: { attribute: false } };
  declare approvalId: string;
  /** Whether the tool call no longer waits. */
  declare isOver: boolean | undefined;
  declare context: ConsoleContext;
  #pending: "approve" | "reject" | null = null;
  #outcome = "";
  #error: ApiError | null = null;

  /** Sends the decision. The first decision applies; if it was another one, shows whose. */
  async decide(decision: "approve" | "reject"): Promise<void> {
    if (this.#pending !== null || this.#outcome !== "" || this.isOver === true) return;
    this.#pending = decision;
    this.#error = null;
    this.requestUpdate();
    const { api, attention } = this.context;
    const reason = this.querySelector("input")?.value.trim() ?? "";
    const path = `/api/v2/approvals/${encodeURIComponent(this.approvalId)}`;
    try {
      const body = { decision, ...(reason !== "" && { reason }) };
      this.#outcome = describe(await api.call<Approval>(path, { method: "POST", body }));
    } catch (error) {
      if (error instanceof ApiError && error.code === "already_decided") this.#outcome = await this.#findDecision();
      else this.#error = error instanceof ApiError ? error : new ApiError(0, "unexpected", String(error));
    }
    this.#pending = null;
    attention.refresh();
    this.requestUpdate();
  }

  async #findDecision(): Promise<string> {
    const { data } = await this.context.api.list<Approval>("/api/v2/approvals", { limit: 200 }).catch(() => ({ data: [] as Approval[] }));
    const approval = data.find(({ approvalId }) => approvalId === this.approvalId);
    return approval === undefined || approval.state === "pending" ? "Already decided." : `Already decided: ${describe(approval)}`;
  }

  protected override render(): TemplateResult {
    if (this.#outcome !== "") return html`<p class="note info" role="status">${showHidden(this.#outcome)}</p>`;
    if (this.isOver === true && this.#pending === null)
      return html`<p class="hint" role="status">No longer waiting. The timeline of the task shows the decision.</p>`;
    if (!this.context.identity.scopes.includes("approve")) return html`<p class="hint">Your token cannot decide approvals.</p>`;
    const isPending = this.#pending !== null;
    return html`
      <div class="decision">
        <input aria-label="Reason" placeholder="Reason (optional)" maxlength="2000" autocomplete="off" />
        <button class="primary" ?disabled=${isPending} @click=${() => this.decide("approve")}>Approve</button>
        <button class="danger" ?disabled=${isPending} @click=${() => this.decide("reject")}>Reject</button>
        ${isPending ? html`<span role="status">Sending …</span>` : nothing}
      </div>
      ${errorNote(this.#error)}
    `;
  }
}

customElements.define("bridge-decision", Decision);

const describe = ({ state, decidedBy, reason }: Approval): string =>
  `${state} by ${decidedBy ?? "?"}${reason === null || reason === "" ? "" : `: ${reason}`}`;
