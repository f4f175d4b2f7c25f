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
  /** Dispatches tasks that all wait for an approval. */
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

/** Expects that exactly one decision is stored and reported, to the client that made it and to the runtime. */
async function expectOneDecision(bridge: Bridge, { taskId, approvalId }: Pending, accepted: (string | null)[]): Promise<string> {
  const { body: task } = await askUntil(
    () => bridge.call("GET", `/api/v2/tasks/${taskId}`),
    ({ body }) => body.finishedAt !== null,
  );
  const { body: list } = await bridge.call("GET", "/api/v2/approvals?limit=100");
  const approval = list.data.find((one: Pending) => one.approvalId === approvalId);
  const { body: events } = await bridge.call("GET", `/api/v2/tasks/${taskId}/events`);
  const resolved = events.data.filter(({ type }: { type: string }) => type === "tool.approval_resolved");
  const made = accepted.filter((decision) => decision !== null);
  const stored = approval.state === "approved" ? "approve" : "reject";
  expect(resolved.map(({ data }: { data: { decision: string } }) => data.decision)).toEqual([stored]);
  expect(made).toEqual(approval.decidedBy === "bridge" ? [] : [stored]);
  // A canceled task has no output; any other task outputs its decision.
  if (task.state === "completed") expect(task.result.output).toBe(stored);
  else expect(task.state).toBe("cancelled");
  return approval.decidedBy;
}

test("exactly one of concurrent HTTP, WebSocket and cancel requests decides, and the runtime receives its decision", async () => {
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
      // Each request is the first for a quarter of the tasks.
      const order = moves.map((_, index) => moves[(index + number) % moves.length] as (typeof moves)[number]);
      return await Promise.all(order.map((move) => move()));
    }),
  );
  const deciders = await Promise.all(pending.map((approval, index) => expectOneDecision(bridge, approval, accepted[index] ?? [])));
  expect(new Set(deciders)).toContain("alpha");
});

test("at the deadline either a client or Bridge decides, and the runtime receives this decision", async () => {
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
