import { describe, expect, test } from "vitest";
import type { AdapterConfig, ApprovalQuestion } from "#contract";
import { openSessionKeys } from "../../../adapters/openclaw/session-keys.ts";
import { temporaryDirectory } from "../../support/temporary-directory.ts";
import { messageFor, startFakeGateway } from "./fake-gateway.ts";
import { callsOf, runOf, startAdapter } from "./task-fixture.ts";

describe("a task", () => {
  test("a task continues its run after a reconnect, and starts it only once", async () => {
    const fake = await startFakeGateway();
    const { start } = await startAdapter(fake);
    const task = start(messageFor({ hang: true }));
    const { run } = await runOf(fake, task);
    fake.disconnectAll();
    Object.assign(run, { status: "completed", reply: "Done meanwhile." });
    expect((await task.done).result).toMatchObject({ status: "ok", output: "Done meanwhile.", resumeToken: run.sessionKey });
    expect(callsOf(fake, "agent")).toHaveLength(1);
  });

  test("a task adopts the run that a restarted gateway resumed", async () => {
    const fake = await startFakeGateway();
    const { start } = await startAdapter(fake);
    const task = start(messageFor({ hang: true }));
    const { run } = await runOf(fake, task);
    fake.restart();
    await expect.poll(() => callsOf(fake, "tasks.list").length).toBeGreaterThan(2);
    fake.startUnrequestedRun(run.sessionKey, "Gone on.", "completed");
    const { result } = await task.done;
    expect(result).toMatchObject({ status: "ok", output: "Gone on." });
    expect(result.usage).toBeUndefined();
    expect(callsOf(fake, "sessions.abort")).toEqual([]);
  });

  test("a task is stopped in the run that replaced its run", async () => {
    const fake = await startFakeGateway();
    const { adapter, start } = await startAdapter(fake);
    const task = start(messageFor({ hang: true }));
    const { run } = await runOf(fake, task);
    fake.restart();
    await expect.poll(() => callsOf(fake, "connect").length).toBe(2);
    fake.startUnrequestedRun(run.sessionKey, "");
    await expect.poll(() => callsOf(fake, "agent.wait").length).toBeGreaterThan(0);
    expect(await adapter.cancel(task.request.taskId)).toBe(true);
    expect((await task.done).result).toMatchObject({ errorCode: "cancelled", output: "I wait." });
    expect(callsOf(fake, "sessions.abort")[0]?.params).toEqual({ key: run.sessionKey, clearQueued: true });
  });

  test("a task in a resumed session does not adopt earlier runs of the session", async () => {
    const fake = await startFakeGateway();
    const { start } = await startAdapter(fake);
    const { result: earlier } = await start(messageFor({ text: "Earlier." })).done;
    const resumeToken = earlier.resumeToken as string;
    const task = start({ ...messageFor({ hang: true }), resumeToken });
    await expect.poll(() => task.events.length).toBeGreaterThan(0);
    fake.restart();
    await expect.poll(() => callsOf(fake, "connect").length).toBe(2);
    fake.startUnrequestedRun(resumeToken, "Gone on.", "completed");
    expect((await task.done).result).toMatchObject({ status: "ok", output: "Gone on." });
  });

  test("a task that starts during a reconnect waits for the connection", async () => {
    const fake = await startFakeGateway();
    const { adapter, start } = await startAdapter(fake);
    await adapter.checkHealth();
    fake.disconnectAll();
    await expect.poll(async () => (await adapter.checkHealth()).status, { interval: 5 }).toBe("degraded");
    expect((await start(messageFor({ text: "Here." })).done).result).toMatchObject({ status: "ok", output: "Here." });
  });

  test("a task gets its output from the session history if the end of its run does not contain it", async () => {
    const fake = await startFakeGateway({ history: "As the session has it." });
    const { start } = await startAdapter(fake);
    const task = start(messageFor({ hang: true }));
    const { run } = await runOf(fake, task);
    fake.disconnectAll();
    Object.assign(run, { status: "completed" });
    expect((await task.done).result).toMatchObject({ status: "ok", output: "As the session has it." });
  });

  test("requests an approval of a command of its session and reports how the tool ended", async () => {
    const fake = await startFakeGateway();
    const questions: ApprovalQuestion[] = [];
    const requestApproval: AdapterConfig["requestApproval"] = async (question) => {
      questions.push(question);
      return { decision: "approve", reason: null };
    };
    const { start } = await startAdapter(fake, { requestApproval });
    const { result, tools } = await start({ ...messageFor({ play: "approved" }), approvals: "ask" }).done;
    expect(result).toMatchObject({ status: "ok", output: "Well." });
    expect(questions).toMatchObject([{ toolName: "exec", input: { command: "touch asked.txt" } }]);
    expect(tools).toMatchObject([{ toolCallId: questions[0]?.toolCallId, isError: false }]);
  });
});

describe("a run that the gateway cannot start", () => {
  const refusalOf = (message: string) => ({ refusal: { code: "UNAVAILABLE", message, retryable: false } });
  const superseded = refusalOf("prepared model runtime plugin generation was superseded for /state/agents/main/agent");
  const locked = refusalOf("another OpenClaw process owns state-lifecycle");
  const accepted = { payload: { status: "accepted" }, isFirst: true };

  test("a run that the gateway cannot start is retried until it starts, whether it was rejected or accepted and aborted", async () => {
    let starts = 0;
    const fake = await startFakeGateway({
      override: ({ method }, answer) => {
        if (method !== "agent" || starts === 2) return false;
        starts += 1;
        if (starts === 2) answer(accepted);
        answer(starts === 1 ? superseded : locked);
        return true;
      },
    });
    const { start } = await startAdapter(fake);
    expect((await start(messageFor({ text: "Begun." })).done).result).toMatchObject({ status: "ok", output: "Begun." });
    const ids = callsOf(fake, "agent").map(({ params }) => params["idempotencyKey"]);
    expect(new Set(ids).size).toBe(3);
  });

  test.each([
    ["called a tool", "tool", { phase: "start", name: "exec", toolCallId: "1", args: {} }],
    ["called its model", "lifecycle", { phase: "model", provider: "custom", model: "scripted" }],
  ])("a run that the gateway cannot start is not retried after it has %s", async (_, stream, data) => {
    const fake = await startFakeGateway({
      override: ({ method, params }, answer, socket) => {
        if (method !== "agent") return false;
        answer(accepted);
        const { idempotencyKey: runId, sessionKey } = params;
        socket.send(JSON.stringify({ type: "event", event: "agent", payload: { runId, sessionKey, stream, data } }));
        answer(superseded);
        return true;
      },
    });
    const { start } = await startAdapter(fake);
    expect((await start(messageFor({ text: "Never." })).done).result).toMatchObject({ status: "error", errorCode: "model_error" });
    expect(callsOf(fake, "agent")).toHaveLength(1);
  });

  test("a run that the gateway cannot start is not retried if a disconnect may have hidden its output", async () => {
    const fake = await startFakeGateway({
      override: ({ method, params }, answer) => {
        if (method === "agent.wait") answer({ payload: { runId: params["runId"], status: "error", error: superseded.refusal.message } });
        return method === "agent.wait";
      },
    });
    const { start } = await startAdapter(fake);
    const task = start(messageFor({ hang: true }));
    await runOf(fake, task);
    fake.disconnectAll();
    expect((await task.done).result).toMatchObject({ status: "error", errorCode: "model_error" });
    expect(callsOf(fake, "agent")).toHaveLength(1);
  });

  test("a run that the gateway cannot start can be canceled between two attempts", async () => {
    const fake = await startFakeGateway({
      override: ({ method }, answer) => {
        if (method === "agent") answer(superseded);
        return method === "agent";
      },
    });
    const { adapter, start } = await startAdapter(fake);
    const task = start(messageFor({ text: "Never." }));
    await expect.poll(() => callsOf(fake, "agent").length).toBeGreaterThan(1);
    expect(await adapter.cancel(task.request.taskId)).toBe(true);
    expect((await task.done).result).toMatchObject({ status: "error", errorCode: "cancelled" });
    expect(callsOf(fake, "agent").length).toBeLessThan(5);
  });
});

describe("a busy gateway", () => {
  const files = { name: "files", transport: "stdio" as const, command: "mcp-files" };
  const busy = (message: string) => ({ refusal: { code: "UNAVAILABLE", message, retryable: true, retryAfterMs: 1 } });

  test.each(["sessions.create", "config.patch", "sessions.patch", "agent"])(
    "a busy gateway gets %s again after the requested delay",
    async (refused) => {
      let refusals = 1;
      const fake = await startFakeGateway({
        override: ({ method }, answer) => {
          const isRefused = method === refused && refusals-- > 0;
          if (isRefused) answer(busy(`${method} unavailable during gateway restart`));
          else if (method === "config.patch") answer({ payload: { ok: true } });
          return isRefused || method === "config.patch";
        },
      });
      const { start } = await startAdapter(fake);
      const { result } = await start({ ...messageFor({ text: "Here." }), mcpServers: [files] }).done;
      expect(result).toMatchObject({ status: "ok", output: "Here." });
      expect(callsOf(fake, refused).length).toBeGreaterThan(1);
      const ids = callsOf(fake, "agent").map(({ params }) => params["idempotencyKey"]);
      expect(new Set(ids).size).toBe(1);
    },
  );

  test("at startup gets retried calls until the runs and servers of a killed Bridge are removed", async () => {
    const root = await temporaryDirectory();
    const keys = await openSessionKeys(root);
    const left = `br${keys.bridgeId.slice(0, 6)}0a1b2c-files`;
    const refused = new Set(["tasks.list", "config.get"]);
    const fake = await startFakeGateway({
      override: ({ method }, answer) => {
        if (refused.delete(method)) answer(busy("Wait a moment."));
        else if (method === "config.get")
          answer({ payload: { hash: "h", valid: true, issues: [], sourceConfig: { mcp: { servers: { [left]: {} } } } } });
        else if (method === "config.patch") answer({ payload: { ok: true } });
        else return false;
        return true;
      },
    });
    const lost = keys.create("main", "/h");
    fake.startUnrequestedRun(lost, "");
    await startAdapter(fake, { dataDir: root });
    await expect.poll(() => callsOf(fake, "sessions.abort").map(({ params }) => params["key"]), { timeout: 5_000 }).toEqual([lost]);
    await expect
      .poll(() => callsOf(fake, "config.patch").map(({ params }) => params["raw"]), { timeout: 5_000 })
      .toEqual([JSON.stringify({ mcp: { servers: { [left]: null } } })]);
  });

  test("a busy gateway does not delay the cancel of a task", async () => {
    const fake = await startFakeGateway({
      override: ({ method }, answer) => {
        if (method === "config.patch") answer({ refusal: { ...busy("rate limit exceeded").refusal, retryAfterMs: 60_000 } });
        return method === "config.patch";
      },
    });
    const { adapter, start } = await startAdapter(fake);
    const task = start({ ...messageFor({ text: "Never." }), mcpServers: [files] });
    await expect.poll(() => callsOf(fake, "config.patch").length).toBeGreaterThan(0);
    expect(await adapter.cancel(task.request.taskId)).toBe(true);
    expect((await task.done).result).toMatchObject({ status: "error", errorCode: "cancelled" });
    expect(callsOf(fake, "agent")).toEqual([]);
  });
});

describe("an orphaned run", () => {
  test("an orphaned run is stopped if its session belongs to this Bridge, at startup or later, and other runs are not", async () => {
    const fake = await startFakeGateway();
    const root = await temporaryDirectory();
    const keys = await openSessionKeys(root);
    const [lost, late] = [keys.create("main", "/h"), keys.create("main", "/h")];
    const others = `agent:main:bridge-0123456789ab-${"0".repeat(24)}-${"0".repeat(24)}`;
    fake.startUnrequestedRun(lost, "");
    fake.startUnrequestedRun(others, "");
    fake.startUnrequestedRun("agent:main:main", "");
    await startAdapter(fake, { dataDir: root });
    await expect.poll(() => callsOf(fake, "sessions.abort").map(({ params }) => params["key"])).toEqual([lost]);
    fake.startUnrequestedRun(others, "");
    fake.startUnrequestedRun(late, "");
    await expect.poll(() => callsOf(fake, "sessions.abort").map(({ params }) => params["key"])).toEqual([lost, late]);
  });
});

describe("the health report", () => {
  test("the health report of another version depends on its methods", async () => {
    const newer = await startAdapter(await startFakeGateway({ version: "2027.1.1" }));
    expect(await newer.adapter.checkHealth()).toMatchObject({ status: "healthy", version: "2027.1.1", connection: "http-api" });
    const older = await startAdapter(await startFakeGateway({ version: "2026.1.1", without: ["agent.wait", "exec.approval.resolve"] }));
    expect(await older.adapter.checkHealth()).toMatchObject({ status: "degraded", detail: expect.stringContaining("agent.wait") });
    const ancient = await startAdapter(await startFakeGateway({ version: "2025.1.1", without: ["sessions.create"] }));
    expect(await ancient.adapter.checkHealth()).toMatchObject({
      status: "offline",
      connection: null,
      detail: expect.stringContaining("2026.9.6"),
    });
  });

  test("the health report is degraded during a reconnect, and healthy afterwards", async () => {
    const fake = await startFakeGateway();
    const { adapter } = await startAdapter(fake);
    expect((await adapter.checkHealth()).status).toBe("healthy");
    fake.disconnectAll();
    await expect.poll(async () => (await adapter.checkHealth()).status, { interval: 5 }).toBe("degraded");
    await expect.poll(async () => (await adapter.checkHealth()).status).toBe("healthy");
  });
});
