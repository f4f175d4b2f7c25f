import type { WebhookDelivery } from "bridge-client";
import { html, nothing, type TemplateResult } from "lit";
import { repeat } from "lit/directives/repeat.js";
import { ChevronRight } from "lucide";
import { formatTime, showHidden } from "../format.ts";
import { taskLink } from "../router.ts";
import { describeResult } from "./attempts.ts";
import { age, callbackBadge, timeOf } from "./badges.ts";
import { icon } from "./icon.ts";

/** What a person can do with the rows. */
interface DeliveryTable {
  now: number;
  /** Ids of the deliveries whose details are shown. */
  open: ReadonlySet<string>;
  onToggle: (id: string) => void;
  /** Null if the token cannot redeliver. */
  onRedeliver: ((id: string) => void) | null;
}

const columns = ["State", "Event", "Task", "Result", "Attempts", "When"];

/** Shows deliveries to a webhook as a table. A row opens what is known of its attempts. */
export function deliveryTable(deliveries: readonly WebhookDelivery[], table: DeliveryTable): TemplateResult {
  const hasActions = table.onRedeliver !== null && deliveries.some(({ state }) => state === "dead");
  return html`<div class="scroll usage-table" role="region" aria-label="Table of deliveries" tabindex="0">
    <table class="deliveries">
      <thead>
        <tr>
          ${columns.map((name) => html`<th scope="col" class=${name.toLowerCase()}>${name}</th>`)}${hasActions ? html`<td></td>` : nothing}
        </tr>
      </thead>
      <tbody>
        ${repeat(
          deliveries,
          ({ deliveryId }) => deliveryId,
          (delivery) => renderDelivery(delivery, table, hasActions),
        )}
      </tbody>
    </table>
  </div>`;
}

function renderDelivery(
  delivery: WebhookDelivery,
  { now, open, onToggle, onRedeliver }: DeliveryTable,
  hasActions: boolean,
): TemplateResult {
  const { deliveryId: id, type, taskId, state, attempts, updatedAt } = delivery;
  const isOpen = open.has(id);
  const canRedeliver = onRedeliver !== null && state === "dead";
  const onRow = ({ target }: Event): void => {
    if (target instanceof Element && target.closest("a, button") === null && getSelection()?.isCollapsed !== false) onToggle(id);
  };
  const redeliver = html`<button @click=${() => onRedeliver?.(id)} aria-label="Redeliver ${type}${taskId === null ? "" : ` of ${taskId}`}">
    Redeliver
  </button>`;
  return html`<tr class="delivery" @click=${onRow}>
      <td>${callbackBadge(delivery)}</td>
      <td>
        <button class="plain toggle" aria-expanded=${isOpen ? "true" : "false"} @click=${() => onToggle(id)}>${icon(ChevronRight)} ${type}</button>
      </td>
      <td>${taskId === null ? nothing : html`<a class="detail" href=${taskLink(taskId)}>${taskId}</a>`}</td>
      <td class="result">${describeResult(delivery, now)}</td>
      <td class="attempts">${attempts}</td>
      <td class="when">${age(updatedAt, now)}</td>
      ${hasActions ? html`<td>${canRedeliver ? redeliver : nothing}</td>` : nothing}
    </tr>
    ${isOpen ? html`<tr><td colspan=${columns.length + (hasActions ? 1 : 0)}>${renderDetails(delivery, now)}</td></tr>` : nothing}`;
}

/** Bridge stores the result of the last attempt only. */
function renderDetails(delivery: WebhookDelivery, now: number): TemplateResult {
  const { deliveryId, taskId, attempts, lastStatus, lastError, nextAttemptAt, createdAt, updatedAt } = delivery;
  const facts: [string, TemplateResult | string | number][] = [
    ["Delivery", deliveryId],
    ["Attempts", attempts],
    ["Last status", lastStatus === null ? "no response" : `HTTP ${lastStatus}`],
    ["Last error", lastError === null ? "none" : showHidden(lastError)],
    ...(nextAttemptAt === null ? [] : ([["Next attempt", formatTime(nextAttemptAt, now)]] as [string, string][])),
    ["Created", timeOf(createdAt, now)],
    ["Updated", timeOf(updatedAt, now)],
  ];
  return html`<dl class="delivery-facts">${facts.map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>
    <p class="hint">
      Bridge stores the result of the last attempt only.
      ${taskId === null ? nothing : html`<a href=${taskLink(taskId)}>Open the events of the task</a>`}
    </p>`;
}
