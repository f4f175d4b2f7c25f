import type { Spent } from "../../task.ts";
import { addSpent, nothingSpent } from "./spent.ts";

/** What a run, a task or a child has spent, in three totals: to show a total, an unknown part matters; to limit one, it does not. */
export interface Spending {
  /** The total; unknown if a part of it is. Null if no model was used. */
  readonly shown: Spent | null;
  /** What is known of it. */
  readonly known: Spent;
  /** The same, with the largest usage of each call whose response broke off. It is what maxima limit. */
  readonly counted: Spent;
}

/** The spending of a run that has used no model. */
export const noSpending: Spending = { shown: null, known: nothingSpent, counted: nothingSpent };

/** The spending of which `spent` is known, and which is at most `atMost`. */
export const toSpending = (spent: Spent, atMost = spent): Spending => ({ shown: spent, known: spent, counted: atMost });

/** Adds up what several parts have spent. */
export function addSpending(all: readonly Spending[]): Spending {
  const parts = all.filter((part) => part !== noSpending);
  const [only = noSpending] = parts;
  if (parts.length <= 1) return only;
  const shown = parts.flatMap((part) => part.shown ?? []);
  return {
    shown: shown.length === 0 ? null : addSpent(shown),
    known: addKnown(parts.map(({ known }) => known)),
    counted: addKnown(parts.map(({ counted }) => counted)),
  };
}

/** The spending after the end of a run. A part that only the reports contain still counts. */
export const endSpending = (before: Spending, ended: Spending): Spending => ({
  shown: ended.shown,
  known: findLarger(before.known, ended.known),
  counted: findLarger(before.counted, ended.counted),
});

function addKnown(parts: readonly Spent[]): Spent {
  const { usage } = addSpent(parts.filter((part) => part.usage !== null));
  return { ...addSpent(parts.filter(({ costUsd }) => costUsd !== null)), usage };
}

/** The larger usage and the larger cost of the two. */
function findLarger(a: Spent, b: Spent): Spent {
  const { usage } = countTokens(a) > countTokens(b) ? a : b;
  return { ...((a.costUsd ?? -1) > (b.costUsd ?? -1) ? a : b), usage };
}

const countTokens = ({ usage }: Spent): number => (usage === null ? -1 : usage.inputTokens + usage.outputTokens);
