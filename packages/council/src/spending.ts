import type { Usage } from "./report.ts";

/** What a council may ask for, and what it has used up. */
export interface Spending {
  /** Counts a question; false when there may be no more. */
  take(): boolean;
  add(result: { usage?: Usage | undefined; costUsd?: number | undefined }): void;
  readonly runs: number;
  readonly left: number;
  /** Absent when nobody told. */
  readonly usage: Usage | undefined;
  readonly costUsd: number | undefined;
}

/** Counts questions up to a limit, and adds up what they cost. */
export function createSpending(maxRuns: number): Spending {
  let runs = 0;
  let usage: Usage | undefined;
  let costUsd: number | undefined;
  return {
    take() {
      if (runs >= maxRuns) return false;
      runs += 1;
      return true;
    },
    add(result) {
      costUsd = sum(costUsd, result.costUsd);
      if (result.usage === undefined) return;
      usage = addUsage(usage, result.usage);
    },
    get runs() {
      return runs;
    },
    get left() {
      return maxRuns - runs;
    },
    get usage() {
      return usage;
    },
    get costUsd() {
      return costUsd;
    },
  };
}

const addUsage = (left: Usage | undefined, right: Usage): Usage => ({
  inputTokens: (left?.inputTokens ?? 0) + right.inputTokens,
  outputTokens: (left?.outputTokens ?? 0) + right.outputTokens,
  ...only("thinkingTokens", sum(left?.thinkingTokens, right.thinkingTokens)),
  ...only("cacheReadTokens", sum(left?.cacheReadTokens, right.cacheReadTokens)),
  ...only("cacheWriteTokens", sum(left?.cacheWriteTokens, right.cacheWriteTokens)),
});

const sum = (left: number | undefined, right: number | undefined): number | undefined =>
  left === undefined && right === undefined ? undefined : (left ?? 0) + (right ?? 0);

const only = (name: keyof Usage, value: number | undefined): Partial<Usage> => (value === undefined ? {} : { [name]: value });
