import { expect } from "vitest";
import { until } from "../../support/until.ts";
import type { CellBench, ReportedTask } from "./cell-bench.ts";

/** A real program must first start and call the model. */
const ASK_LIMIT_MS = 60_000;

/** Waits for the approval request of the call for this decision, and decides it. If the task ends first, the test fails with its state. */
export async function answerQuestion({ bridge }: CellBench, taskId: string, decision: string): Promise<void> {
  const get = async (target: string) => (await (await bridge.call("GET", target)).json()) as Record<string, unknown>;
  const look = async (): Promise<unknown> => {
    const { data } = (await get("/api/v2/approvals?state=pending")) as { data: { approvalId: string; taskId: string; input: unknown }[] };
    const found = data.find((one) => one.taskId === taskId && JSON.stringify(one.input).includes(`to-${decision}`));
    return found?.approvalId ?? (await get(`/api/v2/tasks/${taskId}`));
  };
  let asked: unknown;
  const isSettled = async (): Promise<boolean> => {
    asked = await look();
    return typeof asked === "string" || /completed|failed|cancelled/.test((asked as ReportedTask).state);
  };
  await until(isSettled, ASK_LIMIT_MS);
  expect(asked, `requests the approval for ${decision}`).toEqual(expect.any(String));
  expect((await bridge.call("POST", `/api/v2/approvals/${asked}`, { decision })).status).toBe(200);
}
