import type { ProgramTask } from "../agent-program/agent-program.ts";

/**
 * Calculates the cost of a task whose agent reports the total of the session: the difference between `reportedUsd` and the last stored
 * total. Returns undefined if either is unknown. Stores `reportedUsd` as the new total.
 */
export async function calculateTaskCost(
  { request, totals }: Pick<ProgramTask, "request" | "totals">,
  sessionId: string,
  reportedUsd: number | undefined,
): Promise<number | undefined> {
  const { home } = request.directories;
  const before = await totals.read(home, sessionId);
  // A task that was stopped before its report has a cost, too. The total is then stored as unknown, so that the next task does not include
  // it.
  await totals.write(home, sessionId, { ...before, costUsd: reportedUsd });
  if (reportedUsd === undefined) return undefined;
  if (request.resumeToken === undefined) return reportedUsd;
  const costUsd = before?.costUsd === undefined ? Number.NaN : reportedUsd - before.costUsd;
  return costUsd >= 0 ? costUsd : undefined;
}
