import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import type { AdapterConfig, ApprovalAnswer } from "#contract";
import { createEventReader } from "../../../adapters/openclaw/events.ts";
import { followRun } from "../../../adapters/openclaw/follow-run.ts";
import { createGateway } from "../../../adapters/openclaw/gateway.ts";
import { createAdapterConfig } from "../../conformance/adapter-config.ts";
import { outlasts } from "../../support/outlasts.ts";
import { temporaryDirectory } from "../../support/temporary-directory.ts";
import { until } from "../../support/until.ts";
import { messageFor, startFakeGateway } from "./fake-gateway.ts";
import { callsOf, runOf, startAdapter } from "./task-fixture.ts";

const PATIENCE = { timeout: 10_000, interval: 5 };

describe("a gateway that violates its protocol", () => {
  test.each(["sessions.create", "sessions.describe", "agent", "tasks.list"])(
    "a gateway that violates its protocol in its response to %s fails the task with an error message",
    async (method) => {
      let isLying = false;
      const fake = await startFakeGateway({
        override: (call, answer) => {
          if (!isLying || call.method !== method) return false;
          answer({ payload: { sessionId: 7, session: 7, tasks: "none", status: null } });
          return true;
        },
      });
      const { start } = await startAdapter(fake);
      const { resumeToken = "" } = (await start(messageFor({ text: "Before." })).done).result;
      const task = start({ ...messageFor({ hang: true }), resumeToken });
      if (method === "tasks.list") {
        await expect.poll(() => task.events.length, PATIENCE).toBeGreaterThan(0);
        isLying = true;
        fake.disconnectAll();
      } else isLying = true;
      expect((await task.done).result).toMatchObject({
        status: "error",
        errorCode: "adapter_error",
        error: expect.stringMatching(/unknown format|no longer exists/),
      });
    },
  );

  test("a gateway that violates its protocol can end a run before it starts, end it twice and report other runs: the first end counts", async () => {
    let runId: unknown;
    const fake = await startFakeGateway({
      override: ({ method, params }, answer, socket) => {
        const emit = (id: unknown, text: string): void => {
          const payload = { runId: id, seq: 0, stream: "assistant", data: { text, itemId: text } };
          socket.send(JSON.stringify({ type: "event", event: "agent", payload }));
        };
        if (method === "tasks.list") emit(runId, "Too late.");
        if (method !== "agent") return false;
        runId = params["idempotencyKey"];
        emit("another", "Not mine.");
        emit(runId, "Mine.");
        answer({ payload: { runId, status: "ok", result: { payloads: [{ text: "Mine." }], meta: {} } } });
        answer({ payload: { runId, status: "accepted" } });
        answer({ payload: { runId, status: "timeout", summary: "aborted" } });
        return true;
      },
    });
    const { start } = await startAdapter(fake);
    const { result, events } = await start({ message: "x" }).done;
    expect(result).toMatchObject({ status: "ok", output: "Mine." });
    expect(events).toMatchObject([{ type: "assistant.text", data: { content: "Mine." } }]);
  });

  test("a gateway that violates its protocol that never ends a run gets no more calls after the task has ended", async () => {
    let waits = 0;
    const fake = await startFakeGateway({
      override: ({ method }, answer) => {
        if (method === "agent") answer({ payload: { status: "in_flight" } });
        if (method === "agent.wait") answer({ payload: { status: "timeout" } });
        if (method === "tasks.list") answer({ payload: { tasks: [{ runId: "r", status: "running" }] } });
        waits += Number(method === "agent.wait");
        return ["agent", "agent.wait", "tasks.list"].includes(method);
      },
    });
    const { logger, lookup } = createAdapterConfig("/nowhere");
    const gateway = createGateway({ url: fake.url, token: fake.token, lookup, logger });
    onTestFinished(() => gateway.close());
    const taskEnded = new AbortController();
    const followed = followRun({
      gateway,
      key: "k",
      params: {
        ...{ agentId: "main", sessionKey: "k", expectedExistingSessionId: "s", idempotencyKey: "r" },
        ...{ message: "x", timeout: 60, deliver: false },
      },
      signal: new AbortController().signal,
      taskEnded: taskEnded.signal,
      runs: new Set(["r"]),
      reader: createEventReader(() => true),
      approvals: { handle() {}, handlePending: async () => {} },
    });
    await expect.poll(() => waits, PATIENCE).toBeGreaterThan(0);
    taskEnded.abort();
    await expect(followed).rejects.toMatchObject({ code: "ABORTED" });
  });
});

describe("a lost connection", () => {
  test("a lost connection is restored during a task, and the task continues", async () => {
    const broken = new Set(["sessions.create", "sessions.describe"]);
    let isBreaking = false;
    const fake = await startFakeGateway({
      override: ({ method }, _, socket) => {
        if (!isBreaking || !broken.delete(method)) return false;
        socket.terminate();
        return true;
      },
    });
    const { start } = await startAdapter(fake);
    const { resumeToken = "" } = (await start(messageFor({ text: "Before." })).done).result;
    isBreaking = true;
    expect((await start({ ...messageFor({ text: "After." }), resumeToken }).done).result).toMatchObject({ status: "ok", output: "After." });
    expect(broken.size).toBe(0);
  });

  test("before the acceptance of a run does not prevent joining it, even if the list does not contain it yet", async () => {
    let sent = 0;
    const fake = await startFakeGateway({
      override: ({ method, params }, answer, socket) => {
        if (method === "tasks.list") answer({ payload: { tasks: [] } });
        if (method === "agent" && ++sent === 1) socket.terminate();
        else if (method === "agent") answer({ payload: { runId: params["idempotencyKey"], status: "in_flight" } });
        if (method === "agent.wait") answer({ payload: { status: "ok", endedAt: 1, terminalReply: { text: "Gone on." } } });
        return ["tasks.list", "agent", "agent.wait"].includes(method);
      },
    });
    const { start } = await startAdapter(fake);
    expect((await start({ message: "x" }).done).result).toMatchObject({ status: "ok", output: "Gone on." });
    expect(sent).toBe(2);
  });

  test("a lost connection does not prevent finding the resumed run of a restarted gateway", async () => {
    const fake = await startFakeGateway();
    const { start } = await startAdapter(fake);
    const task = start(messageFor({ hang: true }));
    const { run } = await runOf(fake, task);
    fake.restart();
    await expect.poll(() => callsOf(fake, "tasks.list").length, PATIENCE).toBeGreaterThan(2);
    const before = callsOf(fake, "tasks.list").length;
    fake.disconnectAll();
    await expect.poll(() => callsOf(fake, "tasks.list").length, PATIENCE).toBeGreaterThan(before + 1);
    fake.startUnrequestedRun(run.sessionKey, "Gone on.", "completed");
    expect((await task.done).result).toMatchObject({ status: "ok", output: "Gone on." });
  });

  test("a lost connection does not leave a canceled run active during the next task of its session", async () => {
    const fake = await startFakeGateway();
    const { adapter, start } = await startAdapter(fake);
    const task = start(messageFor({ hang: true }));
    const { run } = await runOf(fake, task);
    fake.disconnectAll();
    await expect.poll(async () => (await adapter.checkHealth()).status, PATIENCE).toBe("degraded");
    await adapter.cancel(task.request.taskId);
    const next = start({ ...messageFor({ text: "Next." }), resumeToken: run.sessionKey });
    expect((await task.done).result).toMatchObject({ errorCode: "cancelled" });
    expect((await next.done).result).toMatchObject({ status: "ok", output: "Next." });
    const stopped = fake.calls.findIndex(({ method }) => method === "sessions.abort");
    const started = fake.calls.findLastIndex(({ method }) => method === "agent");
    expect(run.status).toBe("cancelled");
    expect(stopped).toBeGreaterThan(0);
    expect(stopped).toBeLessThan(started);
  });

  test("a lost connection is restored with exponential backoff", async () => {
    const fake = await startFakeGateway({
      override: ({ method }, _, socket) => {
        if (method === "tasks.list") socket.terminate();
        return method === "tasks.list";
      },
    });
    await startAdapter(fake);
    // The minimum delays are 125, 250, 500 and 1000 ms.
    expect(await outlasts(() => until(() => callsOf(fake, "connect").length > 4, 30_000), 1_400)).toBe(true);
  });
});

test("fifty tasks complete or end as canceled while the gateway disconnects repeatedly, and no run stays active", async () => {
  const fake = await startFakeGateway();
  const { adapter, start } = await startAdapter(fake);
  const tasks = Array.from({ length: 50 }, () => start(messageFor({ hang: true })));
  await expect.poll(() => fake.runs.size, PATIENCE).toBe(50);
  fake.disconnectAll();
  await Promise.all(tasks.slice(0, 25).map(({ request }) => adapter.cancel(request.taskId)));
  await expect.poll(() => callsOf(fake, "agent.wait").length, PATIENCE).toBeGreaterThanOrEqual(25);
  for (const { request } of tasks.slice(25)) await adapter.cancel(request.taskId);
  for (const { result } of await Promise.all(tasks.map(({ done }) => done))) expect(result).toMatchObject({ errorCode: "cancelled" });
  await expect.poll(() => [...fake.runs.values()].filter(({ status }) => status === "running"), PATIENCE).toEqual([]);
});

test("an approval after the cancel has no effect, and approvals of other sessions are ignored", async () => {
  const fake = await startFakeGateway({
    // The run stops slowly.
    override: ({ method }, answer) => {
      if (method === "sessions.abort") answer({ payload: { ok: true } });
      return method === "sessions.abort";
    },
  });
  const answers: ((answer: ApprovalAnswer) => void)[] = [];
  const requestApproval = () => new Promise<ApprovalAnswer>((resolve) => answers.push(resolve));
  const { adapter, start } = await startAdapter(fake, { requestApproval });
  const task = start({ ...messageFor({ play: "approved" }), approvals: "ask" });
  await expect.poll(() => answers.length, PATIENCE).toBe(1);
  for (const sessionKey of ["agent:main:main", "agent:other:bridge"])
    fake.emit("exec.approval.requested", { id: sessionKey, request: { command: "rm", sessionKey } });
  await adapter.cancel(task.request.taskId);
  await expect.poll(() => callsOf(fake, "sessions.abort").length, PATIENCE).toBeGreaterThan(0);
  answers[0]?.({ decision: "approve", reason: null });
  expect((await task.done).result).toMatchObject({ errorCode: "cancelled" });
  expect(callsOf(fake, "exec.approval.resolve").map(({ params }) => params["decision"])).toEqual(["deny"]);
  expect(answers).toHaveLength(1);
});

test.each(["sessions.describe", "tasks.list", "sessions.create", "agent"])(
  "a cancel while %s waits for its answer ends the task, and its run",
  async (method) => {
    const held: (() => void)[] = [];
    let isHolding = false;
    const fake = await startFakeGateway({
      override: (call, answer) => {
        if (!isHolding || call.method !== method || held.length > 0) return false;
        // Only report the end of the run, after it was stopped.
        held.push(() => answer({ payload: { status: "timeout", summary: "aborted", stopReason: "rpc" } }));
        return true;
      },
    });
    const { adapter, start } = await startAdapter(fake);
    const { resumeToken = "" } = (await start(messageFor({ text: "Before." })).done).result;
    isHolding = true;
    const before = fake.runs.size;
    const task = start({ ...messageFor({ hang: true }), resumeToken });
    await expect.poll(() => held.length, PATIENCE).toBe(1);
    expect(await adapter.cancel(task.request.taskId)).toBe(true);
    await expect.poll(() => callsOf(fake, "sessions.abort").length, PATIENCE).toBeGreaterThan(0);
    held[0]?.();
    expect((await task.done).result).toMatchObject({ status: "error", errorCode: "cancelled" });
    expect(fake.runs.size).toBe(before);
  },
);

test("a decision made during a disconnect is sent after the reconnect, and not requested again", async () => {
  const unanswered: unknown[] = [];
  const fake = await startFakeGateway({
    override: ({ method }, answer) => {
      if (method === "exec.approval.list") answer({ payload: unanswered });
      return method === "exec.approval.list";
    },
  });
  const answers: ((answer: ApprovalAnswer) => void)[] = [];
  const requestApproval = () => new Promise<ApprovalAnswer>((resolve) => answers.push(resolve));
  const { adapter, start } = await startAdapter(fake, { requestApproval });
  const task = start({ ...messageFor({ hang: true }), approvals: "ask" });
  const { run } = await runOf(fake, task);
  const question = { id: "q", request: { command: "touch a", sessionKey: run.sessionKey, toolCallId: "1" } };
  unanswered.push(question);
  fake.emit("exec.approval.requested", question);
  await expect.poll(() => answers.length, PATIENCE).toBe(1);
  fake.disconnectAll();
  await expect.poll(async () => (await adapter.checkHealth()).status, PATIENCE).toBe("degraded");
  answers[0]?.({ decision: "approve", reason: null });
  await expect
    .poll(() => callsOf(fake, "exec.approval.resolve").map(({ params }) => params), PATIENCE)
    .toEqual([{ id: "q", decision: "allow-once" }]);
  expect(answers).toHaveLength(1);
  await adapter.cancel(task.request.taskId);
  await task.done;
});

test("a frame above the size limit closes the connection but fails no task", async () => {
  const fake = await startFakeGateway();
  const { start } = await startAdapter(fake);
  const task = start(messageFor({ hang: true }));
  const { runId, run } = await runOf(fake, task);
  fake.emit("agent", { runId, stream: "assistant", data: { text: "x".repeat(26 * 1024 ** 2), itemId: "1" } });
  Object.assign(run, { status: "completed", reply: "Done." });
  expect((await task.done).result).toMatchObject({ status: "ok", output: "Done." });
  expect(callsOf(fake, "connect")).toHaveLength(2);
});

test("the health report contains no secret of the URL", async () => {
  const fake = await startFakeGateway();
  const url = `${fake.url.replace("://", "://me:s3cret@")}/?token=s3cret`;
  const { adapter } = await startAdapter(fake, { settings: { url, token: fake.token } });
  const health = await adapter.checkHealth();
  expect(health.status).toBe("healthy");
  expect(JSON.stringify(health)).not.toContain("s3cret");
});

test("a shutdown aborts a running audit and ends its program", async () => {
  const root = await temporaryDirectory();
  const pid = path.join(root, "pid");
  writeFileSync(path.join(root, "openclaw"), `#!/bin/sh\necho $$ > ${pid}\nexec sleep 60\n`, { mode: 0o755 });
  const fake = await startFakeGateway();
  const settings = { url: fake.url, token: fake.token, stateDir: root, command: [path.join(root, "openclaw")] };
  const { adapter } = await startAdapter(fake, { settings } satisfies Partial<AdapterConfig>);
  const posture = adapter.getSecurityPosture();
  posture.catch(() => {});
  const pidOf = (): number => Number(readFileSync(pid, { encoding: "utf8", flag: "a+" }));
  await expect.poll(pidOf, PATIENCE).toBeGreaterThan(0);
  await adapter.shutdown();
  expect(() => process.kill(pidOf(), 0)).toThrow("ESRCH");
  await expect(posture).rejects.toMatchObject({ code: "unavailable" });
});
