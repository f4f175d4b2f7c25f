import type { Approval, AttentionItem, FaultChoice, Attention as Faults } from "bridge-client";
import { html, nothing, type TemplateResult } from "lit";
import { repeat } from "lit/directives/repeat.js";
import { ChevronDown, ChevronRight } from "lucide";
import { ApiError } from "../api.ts";
import { BridgeElement } from "../element.ts";
import { formatDuration, formatTime, showHidden } from "../format.ts";
import { countDead, type Redelivered } from "../live/redeliver.ts";
import { linkTo, taskLink } from "../router.ts";
import type { ConsoleContext } from "../session.ts";
import { describeInput } from "../timeline-rows.ts";
import { activityBadge, age, badge, errorNote, healthBadge } from "./badges.ts";
import { icon } from "./icon.ts";
import { openRow } from "./open-row.ts";
import "./redelivery.ts";
import type { Redelivery } from "./redelivery.ts";

const MAX_APPROVALS = 5;
const MAX_ACKNOWLEDGED = 50;
/** Bridge counts the faults of the list up to this number. */
const MAX_COUNTED = 1000;
/** Less time than this until Bridge rejects a tool call is urgent. */
const URGENT_MS = 60_000;

/** A line of the list, and the faults that its button acknowledges. */
interface Fault {
  sign: TemplateResult;
  name: string;
  link: string;
  detail: string;
  at: string | null;
  choice: FaultChoice;
  /** What is dead, and how much; absent for other faults. */
  dead?: Redelivered & { count: number };
}

/** What needs a person: approvals to decide, and faults, each of which a person can acknowledge. */
class NeedsYou extends BridgeElement {
  static override properties = { context: { attribute: false }, now: { attribute: false } };
  declare context: ConsoleContext;
  /** The time of Bridge, which moves the ages and the time limits. */
  declare now: number;
  #acknowledged: Faults | null = null;
  #isOpen = false;
  /** The faults that were listed when the acknowledged ones were loaded; null before. */
  #listed: string | null = null;
  #error: ApiError | null = null;
  /** The receiver that a person is asked about. */
  #asked: string | null = null;
  #unsubscribe: () => void = () => {};

  override connectedCallback(): void {
    super.connectedCallback();
    this.#unsubscribe = this.context.attention.subscribe(() => this.#follow());
    this.#follow();
  }

  /** Loads the acknowledged faults, and again whenever the others have changed. */
  #follow(): void {
    this.requestUpdate();
    const { faults, isLoaded } = this.context.attention.state;
    const listed = JSON.stringify(faults);
    if (!isLoaded || listed === this.#listed) return;
    this.#listed = listed;
    void this.#run(() => this.#loadAcknowledged());
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.#unsubscribe();
  }

  async #acknowledge(choice: FaultChoice): Promise<void> {
    await this.#run(async () => {
      await this.context.api.call("/api/v2/attention/acknowledge", { method: "POST", body: choice });
      this.context.attention.refresh();
    });
  }

  async #loadAcknowledged(): Promise<void> {
    this.#acknowledged = await this.context.api.call<Faults>(`/api/v2/attention?acknowledged=true&limit=${MAX_ACKNOWLEDGED}`);
  }

  async #run(act: () => Promise<void>): Promise<void> {
    this.#error = null;
    await act().catch((error: unknown) => {
      this.#error = error instanceof ApiError ? error : new ApiError(0, "unexpected", String(error));
    });
    this.requestUpdate();
  }

  #toggleAcknowledged(): void {
    this.#isOpen = !this.#isOpen;
    this.requestUpdate();
  }

  protected override render(): TemplateResult {
    const { approvals, faults, faultsAt, isLoaded } = this.context.attention.state;
    const { now } = this;
    const acknowledged = this.#acknowledged?.data ?? [];
    const until = new Date(faultsAt).toISOString();
    const listed = [...listFailures(faults), ...listReceivers(faults, until), ...listAdapters(faults)];
    const more = faults.counts.failure - listed.filter(({ choice }) => choice.kind === "failure").length;
    return html`
      ${errorNote(this.#error)} <bridge-redelivery .context=${this.context}></bridge-redelivery>
      ${isLoaded && approvals.length + listed.length === 0 ? html`<p class="empty">Nothing waits for a person.</p>` : nothing}
      <ul class="rows board" @click=${openRow}>
        ${repeat(
          approvals.slice(0, MAX_APPROVALS),
          ({ approvalId }) => approvalId,
          (approval) => renderApproval(approval, now),
        )}
        ${repeat(
          listed,
          ({ choice }) => JSON.stringify({ ...choice, until: null }),
          (fault) => this.#renderFault(fault, now),
        )}
      </ul>
      <p class="actions">
        ${more > 0 ? html`<a href=${linkTo("tasks?state=failed")}>${more} more failed ${more === 1 ? "task" : "tasks"}</a>` : nothing}
        ${more > 0 && this.#mayAct() ? this.#renderButton("Acknowledge all failed tasks", { kind: "failure", all: true, until }) : nothing}
        ${acknowledged.length > 0 ? html`<button aria-expanded=${this.#isOpen} @click=${this.#toggleAcknowledged}>${icon(this.#isOpen ? ChevronDown : ChevronRight)} Acknowledged faults</button>` : nothing}
      </p>
      ${this.#isOpen && acknowledged.length > 0 ? renderAcknowledged(acknowledged, now) : nothing}
    `;
  }

  #mayAct(): boolean {
    return this.context.identity.scopes.includes("dispatch");
  }

  #renderButton(label: string, choice: FaultChoice): TemplateResult {
    return html`<button @click=${() => this.#acknowledge(choice)}>${label}</button>`;
  }

  #ask(receiver: string | null): void {
    this.#asked = receiver;
    this.requestUpdate();
  }

  #redeliver(dead: Redelivered): void {
    this.#ask(null);
    void this.querySelector<Redelivery>("bridge-redelivery")?.start(dead);
  }

  #renderRedelivery(dead: Redelivered & { count: number }): TemplateResult {
    const key = `${dead.kind} ${dead.receiver}`;
    if (this.#asked !== key)
      return html`<button class="small" aria-label="Redeliver all dead to ${showHidden(dead.receiver ?? "")}" @click=${() => this.#ask(key)}>Redeliver all</button>`;
    return html`<span role="status">Redeliver ${countDead(dead.kind, dead.count, MAX_COUNTED)}, and those acknowledged?</span>
      <button class="small" @click=${() => this.#redeliver(dead)}>Yes, redeliver</button>
      <button class="small" @click=${() => this.#ask(null)}>No</button>`;
  }

  #renderFault({ sign, name, link, detail, at, choice, dead }: Fault, now: number): TemplateResult {
    return html`<li>
      ${sign}
      <div class="what"><a href=${link}>${showHidden(name)}</a> <span class="detail">${showHidden(detail)}</span></div>
      <div class="do">
        ${dead !== undefined && this.#mayAct() ? this.#renderRedelivery(dead) : nothing}
        ${
          this.#mayAct()
            ? html`<button class="small" aria-label="Acknowledge ${showHidden(name)}" @click=${() => this.#acknowledge(choice)}>Acknowledge</button>`
            : nothing
        }
      </div>
      ${age(at, now)}
    </li>`;
  }
}

function renderApproval({ agentId, toolName, input, createdAt, expiresAt }: Approval, now: number): TemplateResult {
  return html`<li>
    ${activityBadge("approval")}
    <div class="what">
      <a href=${linkTo("approvals")}>${agentId} wants to call <code>${showHidden(toolName)}</code></a>
      <code class="detail">${showHidden(describeInput(input))}</code>
    </div>
    <div class="do">
      ${renderDeadline(expiresAt, now)}
      <a class="button small" href=${linkTo("approvals")} aria-label="Decide about ${showHidden(toolName)}">Decide</a>
    </div>
    ${age(createdAt, now)}
  </li>`;
}

/** Shows how long a tool call still waits. */
function renderDeadline(expiresAt: string | null, now: number): TemplateResult | typeof nothing {
  if (expiresAt === null) return nothing;
  const leftMs = Math.max(0, Math.ceil((Date.parse(expiresAt) - now) / 1000) * 1000);
  const left = leftMs < URGENT_MS ? `${leftMs / 1000} s` : formatDuration(leftMs);
  return html`<span class="deadline ${leftMs < URGENT_MS ? "urgent" : ""}">Auto-rejects in ${left}</span>`;
}

const cross = (label: string): TemplateResult => badge("failed", "✕", label);

const listFailures = ({ data }: Faults): Fault[] =>
  data
    .filter(({ kind }) => kind === "failure")
    .map(({ id, title, agentId, provider, detail, at }) => ({
      ...{ sign: activityBadge("failed"), name: title ?? id, link: taskLink(id), at },
      detail: [...(title === null ? [] : [id]), agentId, provider, detail].filter((part) => part !== null).join(" · "),
      choice: { kind: "failure", id },
    }));

/** Lists the receivers of dead callbacks and deliveries, each in one line. */
const listReceivers = ({ data, receivers }: Faults, until: string): Fault[] =>
  receivers.map(({ kind, receiver, count }) => {
    const last = data.find((item) => item.kind === kind && item.receiver === receiver);
    return {
      sign: cross(countDead(kind, count, MAX_COUNTED).replace(/(\d) /, "$1 dead ")),
      dead: { kind, receiver, count },
      name: receiver,
      link: linkTo(kind === "callback" ? "callbacks" : `webhooks?name=${encodeURIComponent(receiver)}`),
      detail: [last?.detail, count === 1 ? last?.taskId : null].filter((part) => part != null).join(" · "),
      at: last?.at ?? null,
      choice: { kind, receiver, until },
    };
  });

const listAdapters = ({ data }: Faults): Fault[] =>
  data
    .filter(({ kind }) => kind === "adapter")
    .map(({ id, detail }) => ({
      ...{ sign: healthBadge("offline"), name: id, link: linkTo(`adapters#${encodeURIComponent(id)}`), detail: detail ?? "", at: null },
      choice: { kind: "adapter", id },
    }));

function renderAcknowledged(faults: readonly AttentionItem[], now: number): TemplateResult {
  return html`<ul class="rows board" aria-label="Acknowledged faults">
    ${faults.map(
      (item) => html`<li>
        ${badge("", "·", kindNames[item.kind])}
        <div class="what">
          <span>${showHidden(item.title ?? item.receiver ?? item.id)}</span> <span class="detail">${showHidden(item.detail ?? "")}</span>
        </div>
        <span class="detail do">${describeAcknowledgment(item, now)}</span>
        ${age(item.at, now)}
      </li>`,
    )}
  </ul>`;
}

const kindNames: Readonly<Record<AttentionItem["kind"], string>> = {
  approval: "approval",
  failure: "failed task",
  callback: "dead callback",
  delivery: "dead delivery",
  adapter: "offline adapter",
};

const describeAcknowledgment = ({ acknowledgedBy, acknowledgedAt }: AttentionItem, now: number): string =>
  acknowledgedAt === null ? "" : `acknowledged by ${acknowledgedBy ?? "?"}, ${formatTime(acknowledgedAt, now)}`;

customElements.define("bridge-needs-you", NeedsYou);
