import type { Approval, BudgetQuestion } from "bridge-client";
import { formatCount } from "./format.ts";

/** Describes what an approval decides: a budget by what its task has spent, anything else by its input. Earlier versions send no kind. */
export function describeQuestion({ kind, input }: Pick<Approval, "input"> & Partial<Pick<Approval, "kind">>): string {
  if (kind === "budget" && typeof input === "object" && input !== null) return describeBudget(input as Partial<BudgetQuestion>);
  return typeof input === "string" ? input : (JSON.stringify(input) ?? "");
}

function describeBudget({ spentUsd = null, maxCostUsd = null, spentTokens = null, maxTokens = null }: Partial<BudgetQuestion>): string {
  const parts = [
    ...(maxCostUsd === null ? [] : [`has spent ${spentUsd === null ? "?" : formatUsd(spentUsd)} of ${formatUsd(maxCostUsd)} USD`]),
    ...(maxTokens === null ? [] : [`has used ${formatCount(spentTokens)} of ${formatCount(maxTokens)} tokens`]),
  ];
  return parts.join(", ");
}

/** Two decimals, or as many as an amount has, up to the smallest one that a budget counts. */
export const formatUsd = (usd: number): string => usd.toFixed(6).replace(/0{1,4}$/, "");
