import type { UsageCounts } from "bridge-client";
import { html, nothing, type TemplateResult } from "lit";
import { describeChange, formatCostSum, formatTokenSum } from "../usage.ts";

/** Sums of a period before, and its name. */
export interface Previous {
  total: UsageCounts;
  name: string;
}

/** The sums of a range, each with its change since the period before. */
export function usageFigures(total: UsageCounts, previous: Previous | null): TemplateResult {
  const change = (read: (counts: UsageCounts) => number | null, unknown: "tasksWithoutCost" | "tasksWithoutUsage" | null): string => {
    const text = previous === null ? "" : describeChange(read(total), read(previous.total));
    if (previous === null || previous.total.tasks === 0 || text === "") return "";
    if (text === "none before") return text;
    // Of sums that are partly unknown, only the known parts can be compared.
    const isPartly = unknown !== null && total[unknown] + previous.total[unknown] > 0;
    return `${isPartly ? "about " : ""}${text} vs ${previous.name}`;
  };
  return html`
    <dl class="facts usage-figures">
      ${renderFact(
        "Cost",
        formatCostSum(total),
        change(({ costUsd }) => costUsd, "tasksWithoutCost"),
      )}
      ${renderFact(
        "Input tokens",
        formatTokenSum(total.inputTokens, total),
        change(({ inputTokens }) => inputTokens, "tasksWithoutUsage"),
      )}
      ${renderFact(
        "Output tokens",
        formatTokenSum(total.outputTokens, total),
        change(({ outputTokens }) => outputTokens, "tasksWithoutUsage"),
      )}
      ${renderFact(
        "Tasks",
        String(total.tasks),
        change(({ tasks }) => tasks, null),
        `${total.completed} completed, ${total.failed} failed, ${total.cancelled} canceled`,
      )}
    </dl>
  `;
}

const renderFact = (name: string, value: string, ...details: string[]): TemplateResult =>
  html`<div>
    <dt>${name}</dt><dd>${value}</dd>${details.map((detail) => (detail === "" ? nothing : html`<dd class="detail">${detail}</dd>`))}
  </div>`;
