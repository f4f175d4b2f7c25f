import { expect, onTestFinished, test } from "vitest";
import { type Bridge, startBridge } from "../../support/start-bridge.ts";
import { askUntil } from "../../support/until.ts";
import { openSocket } from "../../websocket/socket-client.ts";

type Pending = { taskId: string; approvalId: string; expiresAt: string };

async function open(environment: Record<string, string>) {
  const bridge = await startBridge({ BRIDGE_MAX_CONCURRENT: "40", ...environment });
  onTestFinished(() => bridge.close());
  const socket = await openSocket(`${bridge.url}/ws/bridge`, { headers: { authorization: "Bearer secret-alpha" } });
  onTestFinished(() => socket.close());
  /** Tasks that wait for an answer, all at once. */
  const ask = async (count: number): Promise<Pending[]> => {
    const ids = Array.from({ length: count }, (_, number) => `task-${number}`);
    await Promise.all(ids.map((taskId) => bridge.dispatch({ taskId, message: "ask", approvals: "ask", profile: "modify" })));
    const { body } = await askUntil(
      () => bridge.call("GET", "/api/v2/approvals?limit=100"),
      (answer) => answer.body.data.length === count,
    );
    return body.data;
  };
  const decide = async ({ approvalId }: Pending, decision: string) =>
    (await bridge.call("POST", `/api/v2/approvals/${approvalId}`, { body: { decision } })).status === 200 ? decision : null;
  const decideBySocket = async ({ approvalId, taskId }: Pending, decision: string) => {
    const { status } = await socket.ask("tool.approve", { toolCallId: "call-1", runId: taskId, approvalId, decision });
    return status === 200 ? decision : null;
  };
  return { bridge, ask, decide, decideBySocket };
}

/** One decision is stored and told, it is the one that a client was told that it made, and the runtime went by it. */
async function expectOneDecision(bridge: Bridge, { taskId, approvalId }: Pending, accepted: (string | null)[]): Promise<string> {
  const { body: task } = await askUntil(
    () => bridge.call("GET", `/api/v2/tasks/${taskId}`),
    ({ body }) => body.finishedAt !== null,
  );
  const { body: list } = await bridge.call("GET", "/api/v2/approvals?limit=100");
  const approval = list.data.find((one: Pending) => one.approvalId === approvalId);
  const { body: story } = await bridge.call("GET", `/api/v2/tasks/${taskId}/events`);
  const resolved = story.data.filter(({ type }: { type: string }) => type === "tool.approval_resolved");
  const made = accepted.filter((decision) => decision !== null);
  const stored = approval.state === "approved" ? "approve" : "reject";
  expect(resolved.map(({ data }: { data: { decision: string } }) => data.decision)).toEqual([stored]);
  expect(made).toEqual(approval.decidedBy === "bridge" ? [] : [stored]);
  // A canceled task has no output; any other reports what it was told.
  if (task.state === "completed") expect(task.result.output).toBe(stored);
  else expect(task.state).toBe("cancelled");
  return approval.decidedBy;
}

test("of REST, WebSocket and cancel at once one decides, and the runtime goes by it", async () => {
  const { bridge, ask, decide, decideBySocket } = await open({ BRIDGE_APPROVAL_SECONDS: "60" });
  const pending = await ask(36);
  const accepted = await Promise.all(
    pending.map(async (approval, number) => {
      const moves = [
        () => decide(approval, "approve"),
        () => decideBySocket(approval, "reject"),
        () => decide(approval, "reject"),
        () => bridge.call("POST", `/api/v2/tasks/${approval.taskId}/cancel`).then(() => null),
      ];
      // Each of them is first for a quarter of the tasks.
      const order = moves.map((_, index) => moves[(index + number) % moves.length] as (typeof moves)[number]);
      return await Promise.all(order.map((move) => move()));
    }),
  );
  const deciders = await Promise.all(pending.map((approval, index) => expectOneDecision(bridge, approval, accepted[index] ?? [])));
  expect(new Set(deciders)).toContain("alpha");
});

test("at the deadline either a client or Bridge decides, and the runtime goes by it", async () => {
  const { bridge, ask, decide, decideBySocket } = await open({ BRIDGE_APPROVAL_SECONDS: "2" });
  const pending = await ask(30);
  const accepted = await Promise.all(
    pending.map(async (approval, number) => {
      const lateMs = number * 4 - 60;
      await new Promise((resolve) => setTimeout(resolve, Date.parse(approval.expiresAt) - Date.now() + lateMs));
      return await Promise.all([decide(approval, "approve"), decideBySocket(approval, "reject")]);
    }),
  );
  await Promise.all(pending.map((approval, index) => expectOneDecision(bridge, approval, accepted[index] ?? [])));
});
