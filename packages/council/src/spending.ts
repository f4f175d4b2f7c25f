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
  /** Sets questions aside for one of those who ask at the same time; the others cannot use them up. */
  share(runs: number): SpendingShare;
}

/** A part of what a council may ask for; what is beyond it comes out of what nobody has set aside. */
export interface SpendingShare extends Spending {
  /** Gives back what was not asked. */
  release(): void;
}

/** What all parts of a council have used up together. */
interface Total {
  runs: number;
  usage?: Usage;
  costUsd?: number;
}

/** Counts questions up to a limit, and adds up what they cost. */
export const createSpending = (maxRuns: number): Spending => createShare(maxRuns, { runs: 0 });

/** Sets aside for each what it plans to ask, and an even part of what is left, for what nobody can plan. */
export function shareEvenly(spending: Spending, planned: readonly number[]): SpendingShare[] {
  const beyond = spending.left - planned.reduce((sum, runs) => sum + runs, 0);
  const extra = Math.max(0, Math.floor(beyond / planned.length));
  return planned.map((runs) => spending.share(runs + extra));
}

function createShare(runs: number, total: Total, rest?: Drawable): SpendingShare & Drawable {
  let own = runs;
  const share: SpendingShare & Drawable = {
    draw(wanted) {
      const drawn = Math.min(wanted, own);
      own -= drawn;
      return drawn === wanted ? drawn : drawn + (rest?.draw(wanted - drawn) ?? 0);
    },
    give(back) {
      own += back;
    },
    take() {
      if (share.draw(1) === 0) return false;
      total.runs += 1;
      return true;
    },
    share: (wanted) => createShare(share.draw(wanted), total, share),
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

/** What questions are drawn from, and given back to. */
interface Drawable {
  /** Draws so many, or what there is. */
  draw(wanted: number): number;
  give(back: number): void;
  readonly left: number;
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
