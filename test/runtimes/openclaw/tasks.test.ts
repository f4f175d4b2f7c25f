import { lookup } from "node:dns";
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { afterAll, describe, expect, onTestFinished, test } from "vitest";
import type { AdapterConfig, ExecutionRequest } from "#contract";
import { createGateway } from "../../../adapters/openclaw/gateway.ts";
import { createOpenClawAdapter } from "../../../adapters/openclaw/index.ts";
import { openSessionKeys } from "../../../adapters/openclaw/session-keys.ts";
import { PROMPT_OPENING } from "../../../adapters/shared/agent-program/prompt.ts";
import { adapterConformance } from "../../conformance/adapter.ts";
import { createAdapterConfig } from "../../conformance/adapter-config.ts";
import { startBridgeProgram, taskInState } from "../../support/bridge-program.ts";
import { isAlive } from "../../support/is-alive.ts";
import { temporaryDirectory } from "../../support/temporary-directory.ts";
import { until } from "../../support/until.ts";
import { createModelServer } from "../model-server/server.ts";
import { startTask } from "../start-task.ts";
import { startGateway } from "./start-gateway.ts";

const model = await createModelServer({ messagePrefix: PROMPT_OPENING });
const gateway = await startGateway({
  modelUrl: model.url,
  change: (config) => {
    config.agents["entries"] = { main: {}, conformance: {} };
  },
});
/** Another operator connection to the gateway, which observes its sessions. */
const operator = createGateway({
  url: gateway.url,
  token: gateway.token,
  lookup,
  logger: { debug() {}, info() {}, warn() {}, error() {} },
});
afterAll(async () => {
  await operator.close();
  await gateway.close();
  await model.close();
});

const play = (...steps: Parameters<typeof model.scenario>[0]) => ({ message: model.scenario(steps) });
const exec = (command: string) => ({ kind: "shell", command }) as const;
const raw = (name: string, input: Record<string, unknown>) => ({ kind: "raw", name, input }) as const;

adapterConformance("openclaw", {
  createAdapter: createOpenClawAdapter,
  config: { settings: { url: gateway.url, token: gateway.token } },
  hasProcesses: false,
  patienceMs: 60_000,
  scenarios: {
    speak: (text) => play({ text }),
    echo: () => ({ systemPrompt: model.scenario([{ echo: true }]) }),
    hang: () => play({ say: "I wait.", tools: [exec("sleep 60")] }),
    // After a 401 the gateway does not call that provider for a minute, and it retries a 500 for as long.
    fail: { errorCode: "model_error", ask: () => play({ error: 400 }) },
    useTool: () => play({ say: "I look.", tools: [exec("echo seen")] }, { text: "I have seen it, and that is all." }),
    resume: {
      remember: (text) => ({ message: `${text} ${play({ text: "I keep it." }).message}` }),
      recall: () => play({ recall: true }),
      usagePerTurn: { inputTokens: 130, outputTokens: 30, thinkingTokens: 5, cacheReadTokens: 20, cacheWriteTokens: 0 },
    },
    askFirst: () => play({ say: "May I?", tools: [exec("touch asked.txt")] }, { text: "Well." }),
    // 110 uncached tokens at 1, 20 cached tokens at 0.5 and 30 output tokens at 2 dollars per million.
    cost: { costUsd: 0.00018, ask: () => play({ text: "A known price." }) },
  },
});

/** Opens an adapter on the gateway, in directories that are removed after the test. */
async function open({ root, settings = {}, ...config }: Partial<AdapterConfig> & { root?: string } = {}) {
  const base = root ?? (await temporaryDirectory());
  const at = (name: string) => path.join(base, name);
  const directories = { workspace: at("workspace"), cwd: at("workspace"), home: at("home"), tmp: at("tmp") };
  for (const directory of Object.values(directories)) mkdirSync(directory, { recursive: true });
  const adapter = createOpenClawAdapter();
  onTestFinished(() => adapter.shutdown());
  await adapter.initialize(createAdapterConfig(base, { settings: { url: gateway.url, token: gateway.token, ...settings }, ...config }));
  await adapter.checkHealth();
  const start = (given: Partial<ExecutionRequest>) => startTask(adapter, directories, { agentId: "main", ...given });
  return { adapter, root: base, directories, start, run: (given: Partial<ExecutionRequest>) => start(given).done };
}

/** The runs of the gateway in this session. */
async function workOf(sessionKey: string): Promise<{ status: string; kind: string }[]> {
  const { tasks } = (await operator.call("tasks.list", { sessionKey })) as { tasks: { status: string; kind: string }[] };
  return tasks;
}
/** The sessions with a run. */
async function keysAtWork(): Promise<string[]> {
  const { tasks } = (await operator.call("tasks.list", { status: ["queued", "running"] })) as { tasks: { sessionKey: string }[] };
  return tasks.map(({ sessionKey }) => sessionKey);
}
const isAtWork = async (key: string) => (await workOf(key)).some(({ status }) => status === "running" || status === "queued");

describe("processes that a command leaves behind", () => {
  /** Four ways to detach; each records its process id. */
  const detach = `for how in "setsid" "setsid --fork" "nohup" "env HOME=/ TMPDIR=/ setsid"; do
  ($how sh -c 'echo $$ >> pids; exec sleep 300' > /dev/null 2>&1 &)
done; sleep 1; echo started`;
  const pidsIn = (workspace: string): number[] => {
    const file = path.join(workspace, "pids");
    return existsSync(file) ? readFileSync(file, "utf8").trim().split("\n").map(Number) : [];
  };
  const endAfterTest = (workspace: string): void =>
    onTestFinished(() => {
      for (const pid of pidsIn(workspace).filter(isAlive)) process.kill(pid, "SIGKILL");
    });

  test("processes that a command leaves behind end with a task that completes", async () => {
    const { run, directories } = await open();
    endAfterTest(directories.workspace);
    const { result } = await run(play({ tools: [exec(detach)] }, { text: "Well." }));
    expect(result).toMatchObject({ status: "ok", output: "Well." });
    expect(pidsIn(directories.workspace)).toHaveLength(4);
    expect(pidsIn(directories.workspace).filter(isAlive)).toEqual([]);
  });

  test("processes that a command leaves behind end with a task that is canceled", async () => {
    const { adapter, start, directories } = await open();
    endAfterTest(directories.workspace);
    const task = start(play({ tools: [exec(`${detach}; sleep 60`)] }, { text: "Well." }));
    expect(await until(() => pidsIn(directories.workspace).length === 4, 30_000)).toBe(true);
    await adapter.cancel(task.request.taskId);
    expect((await task.done).result).toMatchObject({ errorCode: "cancelled" });
    expect(pidsIn(directories.workspace).filter(isAlive)).toEqual([]);
  });
});

describe("MCP servers of a task", () => {
  const server = path.resolve(import.meta.dirname, "../table/mcp-server.js");
  const words = (word: string) => ({
    name: "words",
    transport: "stdio" as const,
    command: process.execPath,
    args: [server],
    env: { WORD: word },
  });
  /** The model searches for the tool, and calls it by the name that it found. */
  const lookUp = (label: string) =>
    play(
      { tools: [raw("tool_search", { query: `words lookup ${label}` })] },
      { tools: [raw("tool_call", { id: "found: br[0-9a-f]{12}-words__lookup", args: { key: label } })] },
      { text: `${label} is done.` },
    );
  const configured = async (): Promise<string[]> => {
    const { sourceConfig } = (await operator.call("config.get", {})) as { sourceConfig: { mcp?: { servers?: object } } };
    return Object.keys(sourceConfig.mcp?.servers ?? {});
  };

  test("MCP servers of a task are separate for concurrent tasks, absent for a task without servers, and removed afterwards", async () => {
    const { run } = await open();
    const [first, second, without] = await Promise.all([
      run({ ...lookUp("first"), mcpServers: [words("heron")] }),
      run({ ...lookUp("second"), mcpServers: [words("egret")] }),
      run(lookUp("third")),
    ]);
    expect([first, second, without].map(({ result }) => result.output)).toEqual(["first is done.", "second is done.", "third is done."]);
    expect(JSON.stringify(first.tools)).toContain("heron for first");
    expect(JSON.stringify(second.tools)).toContain("egret for second");
    expect(JSON.stringify(without.tools)).not.toContain("words__lookup");
    await expect.poll(configured, { timeout: 30_000 }).toEqual([]);
  });

  test("MCP servers of a task contain no expanded variable of the gateway's environment", async () => {
    const { run } = await open();
    const word = `$\{HOME} $$\{HOME} $HOME`;
    const { tools } = await run({ ...lookUp("first"), mcpServers: [words(word)] });
    expect(JSON.stringify(tools)).toContain(`${word} for first`);
  });

  test("MCP servers of a task can change while other tasks start, which do not fail because of the gateway's new configuration", async () => {
    const { run } = await open();
    const labels = ["gull", "tern", "auk", "eider", "skua", "knot"];
    const tasks = await Promise.all(
      labels.map(async (label, index) => {
        await delay(index * 300);
        return await run({ ...lookUp(label), mcpServers: [words(label)] });
      }),
    );
    expect(tasks.map(({ result }) => result.output)).toEqual(labels.map((label) => `${label} is done.`));
    for (const [index, label] of labels.entries()) expect(JSON.stringify(tasks[index]?.tools)).toContain(`${label} for ${label}`);
    await expect.poll(configured, { timeout: 30_000 }).toEqual([]);
  });

  test("MCP servers of a task of a killed Bridge are removed by the next one, and others are kept", async () => {
    const { adapter, root } = await open();
    const { bridgeId } = await openSessionKeys(root);
    await adapter.shutdown();
    const left = `br${bridgeId.slice(0, 6)}0a1b2c-words`;
    const { hash } = (await operator.call("config.get", {})) as { hash: string };
    const servers = { [left]: { enabled: false, command: "true" }, "br000000ffffff-words": { enabled: false, command: "true" } };
    await operator.call("config.patch", { raw: JSON.stringify({ mcp: { servers } }), baseHash: hash });
    await open({ root });
    await expect.poll(configured, { timeout: 30_000 }).toEqual(["br000000ffffff-words"]);
  });
});

test("the commands of a task, and the requests to the model, see nothing of the trace of the task", async () => {
  const { run } = await open();
  const traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
  const asked = play({ tools: [exec('echo "trace:$TRACEPARENT:$TRACESTATE:"')] }, { text: "It ran." });
  const { result, tools } = await run({ ...asked, profile: "modify", traceparent, tracestate: "congo=2" });
  expect(result).toMatchObject({ status: "ok", output: "It ran." });
  expect(tools).toMatchObject([{ toolName: "exec", output: "trace:::" }]);
  const ofTask = model.requests.filter(({ body }) => JSON.stringify(body).includes(asked.message));
  expect(ofTask.length).toBeGreaterThan(0);
  expect(JSON.stringify(ofTask)).not.toContain(traceparent.slice(3, 35));
});

test("a call of a declared tool ends the task, also with profile inspect, and the next task of the session returns the result", async () => {
  const { run } = await open();
  const tools = [
    { name: "ask_user", description: "Asks the user.", inputSchema: { type: "object", properties: { to: { type: "string" } } } },
  ];
  const asking = play(
    { tools: [raw("tool_search", { query: "bridge ask_user" })] },
    { tools: [raw("tool_call", { id: "found: br[0-9a-f]{12}-bridge__ask_user", args: { to: "Eve" } })] },
    { text: "Never." },
  );
  const { result, events } = await run({ ...asking, tools, profile: "inspect" });
  expect(result).toMatchObject({ status: "ok", outputs: { toolCalls: [{ toolName: "ask_user", input: { to: "Eve" } }] } });
  const toolNames = events.flatMap((event) => (event.type === "tool.invoked" ? [event.data.toolName] : []));
  expect(toolNames).toEqual(["tool_search", "ask_user"]);
  const { resumeToken = "" } = result;
  await expect.poll(() => isAtWork(resumeToken), { timeout: 30_000 }).toBe(false);
  const requestsBefore = model.requests.length;
  const next = await run({ message: `Eve says blue-4711. ${play({ text: "Thank you." }).message}`, tools, resumeToken });
  expect(next.result).toMatchObject({ status: "ok", output: "Thank you." });
  expect(JSON.stringify(model.requests.slice(requestsBefore).map(({ body }) => body))).toContain("Eve says blue-4711.");
});

describe("the permissions of a task", () => {
  const attempts = [
    exec("touch touched.txt"),
    raw("write", { path: "written.txt", content: "x" }),
    raw("edit", { path: "edited.txt", oldText: "", newText: "x" }),
    raw("apply_patch", { input: "*** Begin Patch\n*** Add File: patched.txt\n+x\n*** End Patch" }),
    raw("tool_call", { id: "write", args: { path: "called.txt", content: "x" } }),
    raw("process", { action: "start", command: "touch started.txt" }),
  ];
  const names = ["touched.txt", "written.txt", "edited.txt", "patched.txt", "called.txt", "started.txt", "delegated.txt"];
  const existing = (directory: string) => names.filter((name) => existsSync(path.join(directory, name)));

  test("the permissions of a task allow no writes with profile inspect, with any tool of the gateway or sub-agent", async () => {
    const { run, directories } = await open();
    const delegated = model.scenario([
      { tools: [exec("touch delegated.txt"), raw("write", { path: "delegated.txt", content: "x" })] },
      { text: "Tried." },
    ]);
    const { result, tools } = await run({
      ...play(
        { tools: [...attempts, { kind: "read", path: "../outside.txt" }] },
        { tools: [raw("tool_call", { id: "sessions_spawn", args: { task: delegated } })] },
        // Waits until the sub-agent has ended.
        { tools: [raw("tool_call", { id: "agents_wait", args: {} })] },
        { text: "I could only read." },
      ),
      profile: "inspect",
    });
    expect(result).toMatchObject({ status: "ok", output: "I could only read." });
    expect(tools.filter(({ isError }) => !isError).map(({ toolName }) => toolName)).not.toContain("write");
    expect(tools.slice(0, attempts.length).every(({ isError }) => isError)).toBe(true);
    expect([existing(directories.workspace), existing(gateway.workspace)]).toEqual([[], []]);
  });

  test("the permissions of a task prevent denied calls, and limit file tools to the workspace", async () => {
    const { run, directories, root } = await open();
    const { result } = await run({
      ...play(
        {
          tools: [
            exec("touch touched.txt"),
            raw("write", { path: "written.txt", content: "x" }),
            raw("write", { path: path.join(root, "outside.txt"), content: "x" }),
          ],
        },
        { text: "Done." },
      ),
      approvals: "deny",
    });
    expect(result).toMatchObject({ status: "ok", output: "Done." });
    expect(existing(directories.workspace)).toEqual(["written.txt"]);
    expect(existsSync(path.join(root, "outside.txt"))).toBe(false);
  });

  test("the permissions of a task let a task write its output file to the workspace", async () => {
    const { run, directories } = await open();
    const { result } = await run({
      ...play({ tools: [exec("echo seen > out.txt")] }, { text: "Done." }),
      outputStrategy: { type: "file", path: "out.txt" },
    });
    expect(result.status).toBe("ok");
    expect(existsSync(path.join(directories.workspace, "out.txt"))).toBe(true);
    expect(existsSync(path.join(gateway.workspace, "out.txt"))).toBe(false);
  });
});

describe("sessions", () => {
  test("sessions belong to an agent of a tenant, and cannot be resumed by another one", async () => {
    const mine = await open();
    const { result } = await mine.run({ ...play({ text: "I keep it." }), message: `zebra-4711 ${play({ text: "I keep it." }).message}` });
    const resumeToken = result.resumeToken as string;
    const home = path.join(mine.root, "other-home");
    const otherAgent = await mine.run({ ...play({ recall: true }), resumeToken, directories: { ...mine.directories, home } });
    expect(otherAgent.result).toMatchObject({
      status: "error",
      errorCode: "adapter_error",
      error: expect.stringContaining("resume token"),
    });
    const other = await open();
    expect((await other.run({ ...play({ recall: true }), resumeToken })).result).toMatchObject({ errorCode: "adapter_error" });
    expect((await mine.run({ ...play({ recall: true }), resumeToken })).result).toMatchObject({
      status: "ok",
      output: expect.stringContaining("zebra-4711"),
    });
  });

  test("run one task at a time, in order, and a waiting task can be stopped", async () => {
    const { run, start, adapter } = await open();
    const { result } = await run(play({ text: "Hello." }));
    const resumeToken = result.resumeToken as string;
    const first = start({ ...play({ tools: [exec("sleep 1")] }, { text: "first" }), resumeToken });
    const second = start({ ...play({ text: "never" }), resumeToken });
    const third = start({ ...play({ text: "third" }), resumeToken });
    expect(await adapter.cancel(second.request.taskId)).toBe(true);
    expect((await second.done).result).toMatchObject({ errorCode: "cancelled" });
    expect((await first.done).result).toMatchObject({ status: "ok", output: "first" });
    expect((await third.done).result).toMatchObject({ status: "ok", output: "third" });
  });

  test("sessions end sub-agents with their task, also when the task did not wait for them", async () => {
    const { run } = await open();
    const delegated = model.scenario([{ tools: [exec("sleep 60")] }, { text: "Too late." }]);
    const { result } = await run(
      play({ tools: [raw("tool_call", { id: "sessions_spawn", args: { task: delegated } })] }, { text: "Gone." }),
    );
    expect(result).toMatchObject({ status: "ok", output: "Gone." });
    const key = result.resumeToken as string;
    expect((await workOf(key)).map(({ kind }) => kind)).toContain("subagent");
    expect(await until(async () => !(await isAtWork(key)), 5_000)).toBe(true);
  });

  test("sessions of a stopped Bridge have their runs stopped by the next one, and those of another Bridge continue", async () => {
    const root = await temporaryDirectory();
    const keys = await openSessionKeys(createAdapterConfig(root).dataDir);
    const lost = keys.create("main", "/home/lost");
    const others = `agent:main:bridge-0123456789ab-${"0".repeat(24)}-${"0".repeat(24)}`;
    const runs = [lost, others].map((sessionKey) => {
      const params = { agentId: "main", sessionKey, idempotencyKey: sessionKey, deliver: false, ...play({ tools: [exec("sleep 60")] }) };
      return Promise.allSettled([operator.call("agent", params, { onAccepted: () => {} })]);
    });
    await expect.poll(async () => (await Promise.all([isAtWork(lost), isAtWork(others)])).join(), { timeout: 60_000 }).toBe("true,true");
    await open({ root });
    await runs[0];
    expect([await isAtWork(lost), await isAtWork(others)]).toEqual([false, true]);
    await operator.call("sessions.abort", { key: others, clearQueued: true });
    await runs[1];
  });
});

test("the next start of a killed Bridge stops the runs of its interrupted tasks", async () => {
  const dataDir = await temporaryDirectory();
  const environment = { BRIDGE_ADAPTERS: "openclaw", BRIDGE_OPENCLAW_URL: gateway.url, BRIDGE_OPENCLAW_TOKEN: gateway.token };
  const before = new Set(await keysAtWork());
  const first = await startBridgeProgram(dataDir, environment);
  const taskId = "lost-with-its-bridge";
  const task = {
    taskId,
    provider: "openclaw",
    agentId: "main",
    profile: "modify",
    ...play({ say: "I begin.", tools: [exec("sleep 60")] }),
  };
  await expect.poll(async () => (await first.call("GET", "/api/v2/gateway/openclaw")).status, { timeout: 60_000 }).toBe(200);
  expect((await first.call("POST", "/api/v2/dispatch", task)).status).toBe(202);
  await expect.poll(async () => (await keysAtWork()).filter((key) => !before.has(key)), { timeout: 60_000 }).toHaveLength(1);
  first.signal("SIGKILL");
  await first.exited;
  const second = await startBridgeProgram(dataDir, environment);
  expect(await taskInState(second, taskId, "failed")).toMatchObject({ result: { errorCode: "bridge_restarted" } });
  await expect.poll(async () => (await keysAtWork()).filter((key) => !before.has(key)), { timeout: 60_000 }).toEqual([]);
});

describe("a failure is reported", () => {
  test("a failure is reported for a missing agent, with advice to create it", async () => {
    const { run } = await open();
    const { result } = await run({ ...play({ text: "?" }), agentId: "nobody" });
    expect(result).toMatchObject({
      status: "error",
      errorCode: "adapter_error",
      error: expect.stringMatching(/no agent "nobody".*Create it/),
    });
  });

  test("a failure is reported for a missing model", async () => {
    const { run } = await open();
    const { result } = await run({ ...play({ text: "?" }), model: "nowhere/unknown" });
    expect(result).toMatchObject({ status: "error", errorCode: "model_error", error: expect.stringContaining("unknown") });
  });

  test("a failure is reported for a gateway that rejects the token or is unreachable, with advice", async () => {
    const wrong = await open({ settings: { token: "wrong" } });
    expect(await wrong.adapter.checkHealth()).toMatchObject({
      status: "offline",
      detail: expect.stringContaining("BRIDGE_OPENCLAW_TOKEN"),
    });
    expect((await wrong.run(play({ text: "?" }))).result).toMatchObject({ errorCode: "adapter_offline" });
    const nowhere = await open({ settings: { url: "ws://127.0.0.1:9" } });
    expect(await nowhere.adapter.checkHealth()).toMatchObject({ status: "offline", detail: expect.stringContaining("openclaw gateway") });
  });

  test("a failure is reported not for runs that the gateway continues after a kill and a restart", async () => {
    const { adapter, start } = await open();
    const working = start(play({ say: "I begin.", tools: [exec("sleep 60")] }, { text: "The end of it." }));
    const doomed = start(play({ say: "I hang.", tools: [exec("sleep 60")] }, { hang: true, say: "Still." }));
    const isBegun = () => [working, doomed].every(({ events }) => events.some(({ type }) => type === "tool.invoked"));
    expect(await until(isBegun, 60_000)).toBe(true);
    await gateway.kill();
    expect(await until(async () => (await adapter.checkHealth()).status === "degraded", 5_000)).toBe(true);
    // The gateway is down and cannot be called; Bridge stops the run if the gateway starts it later.
    await adapter.cancel(doomed.request.taskId);
    const stopped = (await doomed.done).result;
    expect(stopped).toMatchObject({ errorCode: "cancelled" });
    await gateway.restart();
    const { result } = await working.done;
    expect(result).toMatchObject({ status: "ok", output: "The end of it." });
    // The usage before the restart is unknown.
    expect(result.usage).toBeUndefined();
    expect(await adapter.checkHealth()).toMatchObject({ status: "healthy" });
    await operator.waitForConnection();
    for (const { resumeToken } of [result, stopped])
      expect(await until(async () => !(await isAtWork(resumeToken as string)), 60_000)).toBe(true);
  });
});
