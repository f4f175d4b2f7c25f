import type { Approval, BudgetQuestion } from "bridge-client";
import { html, nothing, type TemplateResult } from "lit";
import { formatCount } from "../format.ts";
import { describeInput } from "../timeline-rows.ts";

type Question = Pick<Approval, "input"> & { kind?: Approval["kind"] | undefined };

/** Whether a person decides about the budget of a task. Earlier versions of Bridge send no kind. */
const isBudget = (question: Question): question is { kind: "budget"; input: BudgetQuestion } =>
  question.kind === "budget" && typeof question.input === "object" && question.input !== null;

/** Describes what an approval decides in one line. */
export function describeQuestion(question: Question): string {
  if (!isBudget(question)) return describeInput(question.input);
  const { spentUsd, maxCostUsd, spentTokens, maxTokens } = question.input;
  const parts = [
    ...(maxCostUsd === null ? [] : [`has spent ${spentUsd === null ? "?" : formatUsd(spentUsd)} of ${formatUsd(maxCostUsd)} USD`]),
    ...(maxTokens === null ? [] : [`has used ${formatCount(spentTokens)} of ${formatCount(maxTokens)} tokens`]),
  ];
  return `The task ${parts.join(", and ")}.`;
}

/** The field for the amount by which the maximum of a budget grows; nothing for other approvals. */
export const raiseField = (question: Question): TemplateResult | typeof nothing =>
  isBudget(question) && question.input.maxCostUsd !== null
    ? html`<input name="raise" type="number" step="any" min="0.000001" max="1000000" aria-label="Raise by (US dollars)"
        placeholder="Raise by (US dollars)" title="Without an amount, the maximum grows by that of the dispatch." />`
    : nothing;

const formatUsd = (usd: number): string => usd.toFixed(6).replace(/0{1,4}$/, "");
