import type { ProgramTask } from "../agent-program/agent-program.ts";

/**
 * What a task has cost, where the agent counts its whole session; undefined when it did not tell, or when nobody knows what the session
 * had cost before.
 */
export async function taskCost(
  { request, totals }: Pick<ProgramTask, "request" | "totals">,
  sessionId: string,
  toldUsd: number | undefined,
): Promise<number | undefined> {
  const { home } = request.directories;
  const before = await totals.read(home, sessionId);
  // A task that was stopped before it told has cost something all the same, which the next one is not to be charged with.
  await totals.write(home, sessionId, { ...before, costUsd: toldUsd });
  if (toldUsd === undefined) return undefined;
  if (request.resumeToken === undefined) return toldUsd;
  const costUsd = before?.costUsd === undefined ? Number.NaN : toldUsd - before.costUsd;
  return costUsd >= 0 ? costUsd : undefined;
}
