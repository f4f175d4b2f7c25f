/** A callback body as its row contains it. */
export interface StoredBody {
  body: string;
  /** The column `body_gaps`: where the fields of the task's result belong. Null if the body is complete. */
  gaps: string | null;
}

/** Removes the fields of the result from a body, if it contains exactly the stored text of them. The row of the task contains them, too. */
export function removeResult(body: string, resultJson: string): StoredBody {
  const fields = fieldsOf(resultJson);
  const at = body.indexOf(fields);
  if (at === -1) return { body, gaps: null };
  return { body: body.slice(0, at) + body.slice(at + fields.length), gaps: JSON.stringify({ result: at }) };
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
