import type { Budget } from "bridge-client";
import { html, nothing, svg, type TemplateResult } from "lit";
import { formatCost, formatCount, formatTime } from "../format.ts";

/** Shows what is spent, estimated and reserved of each budget; nothing without budgets. */
export const budgetBars = (budgets: readonly Budget[], now: number): TemplateResult | typeof nothing =>
  budgets.length === 0
    ? nothing
    : html`<section class="panel budgets" aria-label="Budgets">
        <h2>Budgets</h2>
        <ul>${budgets.map((budget) => html`<li>${renderBudget(budget, now)}</li>`)}</ul>
      </section>`;

const words = { ok: "within its maximum", warning: "nearly spent", reached: "spent" } as const;

function renderBudget(budget: Budget, now: number): TemplateResult {
  const { name, per, periodEnd, state, waitingTasks } = budget;
  if (periodEnd === null) return html`<b>${name}</b> <span class="soft">limits each task to ${describeMaximum(budget)}</span>`;
  const waiting = waitingTasks === 0 ? "" : ` · ${waitingTasks} ${waitingTasks === 1 ? "task waits" : "tasks wait"} for it`;
  return html`
    <b>${name}</b> <span class="budget-state ${state}">${words[state]}</span>
    <span class="soft">${describeSpent(budget)} per ${per}, until ${formatTime(periodEnd, now)}${waiting}</span>
    ${renderBar(budget)}
  `;
}

/** The part of the maximum that is used most: of the cost or of the tokens. */
export function sharesOf(budget: Budget): { spent: number; estimated: number; reserved: number } {
  const { maxCostUsd, maxTokens, spentUsd, spentTokens, estimatedUsd, reservedUsd, reservedTokens } = budget;
  const ofCost = maxCostUsd === null ? 0 : (spentUsd + reservedUsd) / maxCostUsd;
  const ofTokens = maxTokens === null ? 0 : (spentTokens + reservedTokens) / maxTokens;
  if (maxCostUsd !== null && ofCost >= ofTokens)
    return { spent: (spentUsd - estimatedUsd) / maxCostUsd, estimated: estimatedUsd / maxCostUsd, reserved: reservedUsd / maxCostUsd };
  return { spent: spentTokens / (maxTokens ?? 1), estimated: 0, reserved: reservedTokens / (maxTokens ?? 1) };
}

function renderBar(budget: Budget): TemplateResult {
  const { spent, estimated, reserved } = sharesOf(budget);
  const percent = (share: number): number => Math.max(0, Math.min(1, share)) * 100;
  const part = (name: string, from: number, share: number) =>
    svg`<rect class=${name} x="${percent(from)}%" width="${percent(from + share) - percent(from)}%" />`;
  return html`<svg class="budget-bar" role="img" aria-label="${Math.round(percent(spent + estimated))} % spent, ${Math.round(percent(reserved))} % reserved">
    <rect class="track" width="100%" />
    ${part(`spent ${budget.state}`, 0, spent)} ${part("estimated", spent, estimated)} ${part("reserved", spent + estimated, reserved)}
  </svg>`;
}

function describeSpent({ maxCostUsd, maxTokens, spentUsd, spentTokens, reservedUsd, estimatedUsd }: Budget): string {
  const cost = maxCostUsd === null ? [] : [`${formatCost(spentUsd)} of ${formatCost(maxCostUsd)}`];
  const tokens = maxTokens === null ? [] : [`${formatCount(spentTokens)} of ${formatCount(maxTokens)} tokens`];
  const estimated = estimatedUsd === 0 ? [] : [`${formatCost(estimatedUsd)} estimated`];
  const reserved = reservedUsd === 0 ? [] : [`${formatCost(reservedUsd)} reserved`];
  return [...cost, ...tokens, ...estimated, ...reserved].join(", ");
}

const describeMaximum = ({ maxCostUsd, maxTokens }: Budget): string =>
  [...(maxCostUsd === null ? [] : [formatCost(maxCostUsd)]), ...(maxTokens === null ? [] : [`${formatCount(maxTokens)} tokens`])].join(
    " and ",
  );
