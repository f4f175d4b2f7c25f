import { checkReleased, checkSpending, countHeld } from "../crash/spending-checker.ts";
import { readPostgresSpending, type StoredSpending } from "../crash/stored-spending.ts";
import type { TestBudgetsFile } from "../crash/test-budgets.ts";
import { pause } from "./pause.ts";

interface SpendingWatchOptions {
  url(): string;
  budgets: TestBudgetsFile;
  /** By how much more room the budgets get than in the crash test. */
  scale: number;
}

/** The watch of what budgets count. */
export interface SpendingWatch {
  readonly violations: ReadonlySet<string>;
  /** The most queued tasks that waited for a budget at one moment. */
  readonly mostHeld: number;
  /** Stops, and checks that nothing is reserved any more. Call it when all tasks have ended. */
  finish(): Promise<void>;
  close(): Promise<void>;
}

const PAUSE_MS = 300;

/** Checks the counts of budgets again and again while a scenario runs, and gives the budgets room for more tasks. */
export function startSpendingWatch({ url, budgets, scale }: SpendingWatchOptions): SpendingWatch {
  const violations = new Set<string>();
  let mostHeld = 0;
  let isClosed = false;

  async function look(): Promise<StoredSpending> {
    const stored = await readPostgresSpending(url());
    for (const violation of checkSpending(stored, budgets.maxima())) violations.add(violation);
    mostHeld = Math.max(mostHeld, countHeld(stored, budgets.maxima()));
    return stored;
  }

  async function run(): Promise<void> {
    while (!isClosed) {
      try {
        budgets.refill((await look()).periods, scale);
      } catch {
        // The database is unavailable, or its schema does not exist yet.
      }
      await pause(PAUSE_MS);
    }
  }

  async function close(): Promise<void> {
    isClosed = true;
    await running;
  }

  budgets.refill([], scale);
  const running = run();
  return {
    violations,
    get mostHeld() {
      return mostHeld;
    },
    async finish() {
      await close();
      for (const violation of checkReleased(await look())) violations.add(violation);
    },
    close,
  };
}
