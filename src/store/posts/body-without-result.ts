import type { SharedResult } from "./interface.ts";

/** A callback body as its row contains it. */
export interface StoredBody {
  body: string;
  /** The column `body_gaps`: where the fields of the task's result belong. Null if the body is complete. */
  gaps: string | null;
}

/** Returns the columns of a body whose result is read from the row of the task. */
export const storeWithoutResult = ({ body, at }: SharedResult): StoredBody => ({ body, gaps: JSON.stringify({ result: at }) });

/** Whether a column `body_gaps` is from `storeWithoutResult`. */
export const lacksResult = (gaps: unknown): gaps is string => typeof gaps === "string" && gaps.startsWith('{"result":');

/** Inserts the fields of the result, which restores the exact body. */
export function insertResult(body: string, gaps: string, resultJson: string): string {
  const { result: at } = JSON.parse(gaps) as { result: number };
  return body.slice(0, at) + resultJson.slice(1, -1) + body.slice(at);
}
