import { expect } from "vitest";
import { type BridgeProgram, taskInState } from "./bridge-program.ts";
import type { startReceiver } from "./start-receiver.ts";

type Receiver = Awaited<ReturnType<typeof startReceiver>>;

/**
 * Expects that a Bridge continues what a stored database of `test/fixtures/schemas` contains: its tasks, callbacks and events. Returns the
 * ids of the stored events.
 */
export async function expectStoredTasksContinue(
  bridge: Pick<BridgeProgram, "call">,
  { posts }: Pick<Receiver, "posts">,
): Promise<string[]> {
  const get = async (target: string) => (await (await bridge.call("GET", target)).json()) as { data: Record<string, string>[] };
  // Interrupted tasks end, including child tasks; queued tasks run.
  expect(await taskInState(bridge, "running", "failed")).toMatchObject({ result: { errorCode: "bridge_restarted" } });
  expect(await taskInState(bridge, "child", "failed")).toMatchObject({ parentTaskId: "running" });
  await taskInState(bridge, "queued", "completed");
  expect(await taskInState(bridge, "delivered", "completed")).toMatchObject({
    metadata: { ticket: 7 },
    result: { output: "from the past", resumeToken: "session-1" },
    callback: { state: "delivered", attempts: 1 },
  });
  const { data: tasks } = await get("/api/v2/tasks");
  expect(tasks.map(({ taskId }) => taskId)).toEqual(["queued", "child", "running", "owing", "delivered"]);

  // Pending callbacks are posted as stored, and delivered ones are not posted again.
  await expect.poll(() => posts.map((post) => post.path).sort()).toEqual(["/owing", "/running"]);
  expect(posts.find((post) => post.path === "/owing")?.body.toString()).toBe('{"taskId":"owing","äöü":"exactly these bytes"}');
  await expect.poll(async () => await get("/api/v2/tasks/owing")).toMatchObject({ callback: { state: "delivered", attempts: 3 } });

  // The event log continues after its last number.
  const { data: events } = await get("/api/v2/tasks/delivered/events");
  expect(events.map(({ id, type }) => `${id?.split("-")[1]} ${type}`)).toEqual([
    "1 execution.started",
    "2 assistant.text",
    "3 execution.completed",
  ]);
  const { data: laterEvents } = await get("/api/v2/tasks/queued/events");
  for (const { id } of laterEvents) expect(Number(id?.split("-")[1])).toBeGreaterThan(6);
  return events.map(({ id }) => String(id));
}

/** Expects that the approval that was pending in the stored database is rejected, because its task was interrupted. */
export async function expectStoredApprovalRejected(bridge: Pick<BridgeProgram, "call">): Promise<void> {
  const answer = await bridge.call("GET", "/api/v2/approvals");
  expect(await answer.json()).toMatchObject({ data: [{ approvalId: "apr_pending", state: "rejected" }] });
}
