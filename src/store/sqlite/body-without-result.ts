/** A callback body as its row contains it. */
export interface StoredBody {
  body: string;
  /** The column `body_gaps`: where the fields of the task's result belong. Null if the body is complete. */
  gaps: string | null;
}

/** Removes the fields of the result, which begin at `resultAt`, from a body, if they are exactly the text in the row of the task. */
export function removeResult(body: string, resultAt: number, resultJson: string): StoredBody {
  const fields = fieldsOf(resultJson);
  if (!body.startsWith(fields, resultAt)) return { body, gaps: null };
  return { body: body.slice(0, resultAt) + body.slice(resultAt + fields.length), gaps: JSON.stringify({ result: resultAt }) };
}

/** Whether a column `body_gaps` is from `removeResult`. */
export const lacksResult = (gaps: unknown): gaps is string => typeof gaps === "string" && gaps.startsWith('{"result":');

/** Returns the exact body that `removeResult` received. */
export function insertResult(body: string, gaps: string, resultJson: string): string {
  const { result: at } = JSON.parse(gaps) as { result: number };
  return body.slice(0, at) + fieldsOf(resultJson) + body.slice(at);
}

/** The text between the braces. */
const fieldsOf = (resultJson: string): string => resultJson.slice(1, -1);
