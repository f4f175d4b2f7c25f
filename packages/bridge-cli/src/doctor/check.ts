/** The result of one check: `warning` needs attention but works, and `skipped` depends on a check that failed. */
export interface Check {
  check: string;
  result: "ok" | "warning" | "failed" | "skipped";
  /** What the check found. */
  detail: string;
  /** The command or the setting that mends it. Null if there is nothing to mend. */
  remedy: string | null;
}

/** Creates the result of a check that found no fault. */
export const ok = (check: string, detail: string): Check => ({ check, result: "ok", detail, remedy: null });

/** Creates the result of a check that found a fault. */
export const failed = (check: string, detail: string, remedy: string): Check => ({ check, result: "failed", detail, remedy });

/** Creates the result of a check that found something to correct that does not prevent work. */
export const warning = (check: string, detail: string, remedy: string): Check => ({ check, result: "warning", detail, remedy });

/** Creates the result of a check that could not run, because another one failed. */
export const skipped = (check: string, detail: string): Check => ({ check, result: "skipped", detail, remedy: null });
