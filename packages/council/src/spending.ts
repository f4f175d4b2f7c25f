import type { Usage } from "./reports/report.ts";

/** Budget of a council: the prompts it may send and what it has used. */
export interface Spending {
  /** Counts one prompt; false when the limit is reached. */
  take(): boolean;
  add(result: { usage?: Usage | undefined; costUsd?: number | undefined }): void;
  readonly runs: number;
  readonly left: number;
  /** Absent if no runtime reported it. */
  readonly usage: Usage | undefined;
  readonly costUsd: number | undefined;
  /** Reserves prompts for one of several concurrent users. */
  share(runs: number): SpendingShare;
}

/** A reserved part of the budget. Prompts unplanned it come from the unreserved rest. */
export interface SpendingShare extends Spending {
  /** Returns the unused prompts. */
  release(): void;
}

/** Total usage of all parts of a council. */
interface Total {
  runs: number;
  usage?: Usage;
  costUsd?: number;
}

/** Creates a budget of prompts that also adds up their cost. */
export const createSpending = (maxRuns: number): Spending => createShare(maxRuns, { runs: 0 });

/** Reserves the planned prompts of each user, and an equal part of the rest for unplanned ones. */
export function shareEvenly(spending: Spending, planned: readonly number[]): SpendingShare[] {
  const unplanned = spending.left - planned.reduce((sum, runs) => sum + runs, 0);
  const extra = Math.max(0, Math.floor(unplanned / planned.length));
  return planned.map((runs) => spending.share(runs + extra));
}

function createShare(runs: number, total: Total, rest?: Pool): SpendingShare & Pool {
  let own = runs;
  const share: SpendingShare & Pool = {
    draw(count) {
      const drawn = Math.min(count, own);
      own -= drawn;
      return drawn === count ? drawn : drawn + (rest?.draw(count - drawn) ?? 0);
    },
    give(count) {
      own += count;
    },
    take() {
      if (share.draw(1) === 0) return false;
      total.runs += 1;
      return true;
    },
    share: (count) => createShare(share.draw(count), total, share),
    release() {
      rest?.give(own);
      own = 0;
    },
    add({ usage, costUsd }) {
      const cost = sum(total.costUsd, costUsd);
      if (cost !== undefined) total.costUsd = cost;
      if (usage !== undefined) total.usage = addUsage(total.usage, usage);
    },
    get runs() {
      return total.runs;
    },
    get left() {
      return own + (rest?.left ?? 0);
    },
    get usage() {
      return total.usage;
    },
    get costUsd() {
      return total.costUsd;
    },
  };
  return share;
}

/** A pool of prompts. */
interface Pool {
  /** Takes this many prompts, or all that remain. */
  draw(count: number): number;
  give(count: number): void;
  readonly left: number;
}

const addUsage = (left: Usage | undefined, right: Usage): Usage => ({
  inputTokens: (left?.inputTokens ?? 0) + right.inputTokens,
  outputTokens: (left?.outputTokens ?? 0) + right.outputTokens,
  ...omitUnknown("thinkingTokens", sum(left?.thinkingTokens, right.thinkingTokens)),
  ...omitUnknown("cacheReadTokens", sum(left?.cacheReadTokens, right.cacheReadTokens)),
  ...omitUnknown("cacheWriteTokens", sum(left?.cacheWriteTokens, right.cacheWriteTokens)),
});

const sum = (left: number | undefined, right: number | undefined): number | undefined =>
  left === undefined && right === undefined ? undefined : (left ?? 0) + (right ?? 0);

const omitUnknown = (name: keyof Usage, value: number | undefined): Partial<Usage> => (value === undefined ? {} : { [name]: value });
