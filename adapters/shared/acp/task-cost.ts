import type { ProgramTask } from "../agent-program/agent-program.ts";

/**
 * The cost of a task of an agent that reports the total of the session: the difference to the last total. Undefined if
 * one of them is unknown. Stores `reportedUsd` as the new total.
 */
export async function taskCost(
  { request, totals }: Pick<ProgramTask, "request" | "totals">,
  sessionId: string,
  reportedUsd: number | undefined,
): Promise<number | undefined> {
  const { home } = request.directories;
  const before = await totals.read(home, sessionId);
  // A task that was stopped before its report has a cost, too. The unknown total keeps it out of the cost of the next task.
  await totals.write(home, sessionId, { ...before, costUsd: reportedUsd });
  if (reportedUsd === undefined) return undefined;
  if (request.resumeToken === undefined) return reportedUsd;
  const costUsd = before?.costUsd === undefined ? Number.NaN : reportedUsd - before.costUsd;
  return costUsd >= 0 ? costUsd : undefined;
}
