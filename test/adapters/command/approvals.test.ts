import path from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { createCommandAdapter } from "../../../adapters/command/index.ts";
import { startBridge } from "../../support/start-bridge.ts";
import { askUntil } from "../../support/until.ts";

const example = path.resolve(import.meta.dirname, "../../../examples/agents/asking-agent.js");
const waited = { headers: { prefer: "wait=20" } };

/** Starts a Bridge whose command adapter runs this program, which may ask for approvals. */
async function start(argv: readonly string[], environment: Record<string, string> = {}) {
  const settings = { BRIDGE_COMMAND: JSON.stringify(argv), BRIDGE_COMMAND_APPROVALS: "true", ...environment };
  const bridge = await startBridge(settings, { adapters: [{ provider: "command", adapter: createCommandAdapter() }] });
  onTestFinished(() => bridge.close());
  const dispatch = (body: object, options: object = {}) =>
    bridge.dispatch({ provider: "command", agentId: "asker", profile: "modify", approvals: "ask", ...body }, options);
  const pending = () =>
    askUntil(
      () => bridge.call("GET", "/api/v2/approvals?state=pending"),
      ({ body }) => body.data.length > 0,
    );
  const end = (taskId: string) => bridge.call("GET", `/api/v2/tasks/${taskId}`, waited);
  const decide = (approvalId: string, decision: "approve" | "reject", reason?: string) =>
    bridge.call("POST", `/api/v2/approvals/${approvalId}`, { body: { decision, reason } });
  return { bridge, dispatch, pending, end, decide };
}

/** A program that reads the request, prints lines, and prints what it then reads as its answer. */
const script = (text: string) => ["/bin/sh", "-c", `read -r request; ${text}`];
const question = (id: string) => JSON.stringify({ type: "approval.request", toolCallId: id, toolName: "rm", input: { path: id } });

describe("the example agent", () => {
  test.each([
    ["approve", undefined, "I wrote answer.md.", ["answer.md"]],
    ["reject", "Not today.", "I wrote nothing: Not today.", []],
  ] as const)("the example agent asks before it writes, and after the decision to %s goes on", async (decision, reason, output, files) => {
    const { bridge, dispatch, pending, end, decide } = await start([process.execPath, example]);
    await dispatch({ taskId: "write-1", message: "Forty-two." });
    const [approval] = (await pending()).body.data;
    expect(approval).toMatchObject({
      toolName: "write_file",
      toolCallId: "write-1",
      input: { path: "answer.md", content: "Forty-two.\n" },
    });
    expect((await bridge.call("GET", "/api/v2/tasks/write-1")).body).toMatchObject({ state: "running", waitingOn: "approval" });
    await decide(approval.approvalId, decision, reason);
    expect((await end("write-1")).body).toMatchObject({ state: "completed", result: { output } });
    const listed = (await bridge.call("GET", "/api/v2/tasks/write-1/files")).body.data;
    expect(listed.map(({ path: name }: { path: string }) => name)).toEqual(files);
    const types = (await bridge.call("GET", "/api/v2/tasks/write-1/events")).body.data.map(({ type }: { type: string }) => type);
    expect(types).toEqual([
      ...["execution.started", "tool.invoked", "tool.approval_requested", "tool.approval_resolved", "tool.completed"],
      "execution.completed",
    ]);
  });

  test("the example agent is rejected without a question if the task may not write, and writes without one if everything is allowed", async () => {
    const { bridge, dispatch } = await start([process.execPath, example]);
    const inspect = await dispatch({ taskId: "i", profile: "inspect" }, waited);
    expect(inspect.body.result.output).toContain("the task's profile is inspect");
    expect((await dispatch({ taskId: "d", approvals: "deny" }, waited)).body.result.output).toContain('approvals are "deny"');
    expect((await dispatch({ taskId: "a", approvals: "allow" }, waited)).body.result.output).toBe("I wrote answer.md.");
    expect((await bridge.call("GET", "/api/v2/approvals")).body.data).toEqual([]);
  });

  test("the example agent is rejected when its time is over", async () => {
    const { dispatch } = await start([process.execPath, example], { BRIDGE_APPROVAL_SECONDS: "1" });
    const { body } = await dispatch({ taskId: "late" }, waited);
    expect(body).toMatchObject({ state: "completed", result: { output: expect.stringContaining("No decision was made") } });
  });
});

test("the clock of the task pauses while it waits", async () => {
  const { dispatch, pending, end, decide } = await start([process.execPath, example], { BRIDGE_APPROVAL_SECONDS: "3" });
  await dispatch({ taskId: "paused", timeoutSeconds: 1 });
  const [approval] = (await pending()).body.data;
  expect(approval.state).toBe("pending");
  // Bridge rejects the call after 3 s, and the task has used none of its second.
  expect((await end("paused")).body).toMatchObject({ state: "completed" });
  expect((await decide(approval.approvalId, "approve")).status).toBe(409);
});

test("several questions can be open, and each decision names its call", async () => {
  const { dispatch, pending, end, decide, bridge } = await start(
    script(`echo '${question("a")}'; echo '${question("b")}'; read -r one; read -r two; echo "$one"; echo "$two"`),
  );
  await dispatch({ taskId: "two" });
  await pending();
  const both = await askUntil(
    () => bridge.call("GET", "/api/v2/approvals?state=pending"),
    ({ body }) => body.data.length === 2,
  );
  const idOf = (call: string) => both.body.data.find(({ toolCallId }: { toolCallId: string }) => toolCallId === call).approvalId;
  await decide(idOf("b"), "approve");
  await decide(idOf("a"), "reject", "No.");
  const { output } = (await end("two")).body.result;
  expect(
    output
      .trim()
      .split("\n")
      .map((line: string) => JSON.parse(line)),
  ).toEqual([
    { type: "approval.decision", toolCallId: "b", decision: "approve", reason: null },
    { type: "approval.decision", toolCallId: "a", decision: "reject", reason: "No." },
  ]);
});

test("a malformed question is rejected, and reported in the events", async () => {
  const { dispatch, bridge } = await start(script(`echo '{"type":"approval.request","toolCallId":"x"}'; read -r answer; echo "$answer"`));
  const { body } = await dispatch({ taskId: "bad" }, waited);
  expect(JSON.parse(body.result.output)).toMatchObject({
    toolCallId: "x",
    decision: "reject",
    reason: expect.stringContaining("toolName"),
  });
  const events = (await bridge.call("GET", "/api/v2/tasks/bad/events")).body.data;
  expect(JSON.stringify(events)).toContain("malformed approval.request");
});

test("a program that never reads a decision ends like any other, and so does one that is canceled while it waits", async () => {
  const lines = `yes '${question("q")}' | head -n 20000`;
  const { dispatch } = await start(["/bin/sh", "-c", `${lines}; exec cat > /dev/null < /dev/null`]);
  expect((await dispatch({ taskId: "deaf", approvals: "deny" }, waited)).body).toMatchObject({ state: "completed" });
  const waiting = await start(script(`echo '${question("w")}'; read -r answer; echo never`));
  await waiting.dispatch({ taskId: "waits" });
  await waiting.pending();
  await waiting.bridge.call("POST", "/api/v2/tasks/waits/cancel");
  expect((await waiting.end("waits")).body.state).toBe("cancelled");
});

test("without BRIDGE_COMMAND_APPROVALS, a dispatch that asks is rejected, and stdin ends after the request", async () => {
  const { dispatch } = await start(["/bin/sh", "-c", "cat > /dev/null; echo done"], { BRIDGE_COMMAND_APPROVALS: "false" });
  expect((await dispatch({ taskId: "no" })).body).toMatchObject({ status: 422, code: "capability_missing" });
  expect((await dispatch({ taskId: "yes", approvals: "deny" }, waited)).body.result.output).toBe("done\n");
});
