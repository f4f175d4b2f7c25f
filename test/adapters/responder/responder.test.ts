import { mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import type { AddressInfo } from "node:net";
import path from "node:path";
import { text as readText } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { type Answer, json } from "../../../packages/bridge-client/test/scripted-server.ts";
import { type BridgeProgram, dispatchTask, startBridgeProgram, taskInState } from "../../support/bridge-program.ts";
import { createAsyncServer } from "../../support/create-async-server.ts";
import type { AtEnd } from "../../support/database-subject-types.ts";
import { isAlive } from "../../support/is-alive.ts";
import { startReceiver } from "../../support/start-receiver.ts";
import { temporaryDirectory } from "../../support/temporary-directory.ts";

const programs = path.resolve(import.meta.dirname, "../../fixtures/programs");
interface Result {
  output?: string;
  outputs: { ok?: boolean; iterations?: number; artifacts: string[]; validationLog?: string };
  usage?: object;
  costUsd?: number;
  errorCode?: string;
  error?: string;
}

/** Starts a process in the background before the tool, and stores its id. */
const escapingTool = `env -i setsid sleep 300 > /dev/null 2>&1 & echo $! >> "$HOME/pids"; exec "$@"`;
const wordTool = [process.execPath, path.join(programs, "word-tool.js")];

/** A Bridge whose drafts are written by the command adapter, and one whose drafts are written by an API. Every test has its own agent. */
let bridges: Record<"command" | "openai", BridgeProgram & { dataDir: string }>;
let agents = 0;
/** The answers of the API by model. */
const apiAnswers = new Map<string, Answer[]>();
const atEnd: (() => unknown)[] = [];
const remember: AtEnd = (act) => void atEnd.push(act);

beforeAll(async () => {
  const api = createAsyncServer(async (request, response) => {
    const { model } = JSON.parse(await readText(request)) as { model: string };
    apiAnswers.get(model)?.shift()?.(response);
  });
  await new Promise<void>((resolve) => void api.listen(0, "127.0.0.1", resolve));
  remember(() => void api.close());
  const url = `http://127.0.0.1:${(api.address() as AddressInfo).port}/v1`;
  bridges = {
    command: await startResponder({ OPENAI_API_KEY: "" }, remember),
    openai: await startResponder({ OPENAI_BASE_URL: url, OPENAI_API_KEY: "sk-secret" }, remember),
  };
});
afterAll(async () => {
  for (const act of atEnd.toReversed()) await act();
});

async function startResponder(environment: Record<string, string>, end: AtEnd): Promise<BridgeProgram & { dataDir: string }> {
  const dataDir = await temporaryDirectory(end);
  const settings = {
    BRIDGE_ADAPTERS: "command,responder",
    BRIDGE_COMMAND: JSON.stringify([process.execPath, path.join(programs, "drafting-agent.js")]),
    BRIDGE_RESPONDER_TOOLS: JSON.stringify({
      words: wordTool,
      escaping: ["/bin/sh", "-c", escapingTool, "sh", ...wordTool],
      gone: ["no-such-program"],
    }),
  };
  return { ...(await startBridgeProgram(dataDir, { ...settings, ...environment }, end)), dataDir };
}

/** Creates an agent with a workspace. The files `fixes`, `draft` and `hang` in it change how its program drafts. */
function createAgent(bridge: BridgeProgram & { dataDir: string }, files: Record<string, string> = {}) {
  agents += 1;
  const [agentId, taskId] = [`writer${agents}`, `r${agents}`];
  const { dataDir } = bridge;
  const workspace = path.join(dataDir, "workspaces/default", agentId);
  mkdirSync(workspace, { recursive: true });
  for (const [name, text] of Object.entries({ "notes.md": "The material.", ...files })) writeFileSync(path.join(workspace, name), text);
  const dispatch = (input: object, fields: object = {}) =>
    dispatchTask(bridge, {
      taskId,
      provider: "responder",
      agentId,
      responderInput: { tool: "words", describe: "cats --short", provider: "command", ...input },
      ...fields,
    });
  const ended = async (state: string) => (await taskInState(bridge, taskId, state, 40_000))["result"] as Result;
  return { bridge, agentId, taskId, dataDir, workspace, dispatch, ended };
}

test("a document is generated, validated and revised until it is valid, and all artifacts stay in the workspace", async () => {
  const { bridge, taskId, workspace, dispatch, ended } = createAgent(bridges.command, { fixes: "2" });
  expect((await dispatch({ materials: ["notes.md"] })).status).toBe(202);
  const { output, outputs, usage, costUsd } = await ended("completed");
  expect(output).toBe("draft 3 VALID");
  expect(outputs).toMatchObject({ ok: true, iterations: 3 });
  expect({ usage, costUsd }).toEqual({ usage: { inputTokens: 30, outputTokens: 6 }, costUsd: 1.5 });
  const names = outputs.artifacts.map((name) => name.replace(/^\.outputs\/responder\/[\w-]+\//, ""));
  const iteration = (number: number) => ["prompt.json", "draft.md", "validation.log"].map((name) => `iterations/iter-0${number}/${name}`);
  expect(names).toEqual(
    expect.arrayContaining([
      "inputs/describe.md",
      "inputs/materials.txt",
      ...iteration(1),
      ...iteration(2),
      ...iteration(3),
      "final/final.md",
      "final/validation.log",
      "meta.json",
    ]),
  );
  for (const name of outputs.artifacts) expect(statSync(path.join(workspace, name)).isFile()).toBe(true);
  const meta = JSON.parse(readFileSync(path.join(workspace, outputs.artifacts.find((name) => name.endsWith("meta.json")) ?? ""), "utf8"));
  expect(meta).toMatchObject({ provider: "command", ok: true, iterations: 3, tool: { name: "words", version: "word-tool 1.2.3" } });
  const log = (await (await bridge.call("GET", `/api/v2/tasks/${taskId}/events`)).json()) as { data: { type: string; data: object }[] };
  expect(log.data.filter(({ type }) => type === "execution.progress").map(({ data }) => data)).toEqual([
    { phase: "iteration", iteration: 1, maxIterations: 3, ok: false },
    { phase: "iteration", iteration: 2, maxIterations: 3, ok: false },
    { phase: "iteration", iteration: 3, maxIterations: 3, ok: true },
  ]);
  const children = (await (await bridge.call("GET", `/api/v2/tasks?parentTaskId=${taskId}`)).json()) as {
    data: { state: string; provider: string }[];
  };
  expect(children.data.map(({ state, provider }) => [state, provider])).toEqual(Array.from({ length: 3 }, () => ["completed", "command"]));
});

test.each([
  ["is the sum of its calls if all report their usage", [usageOf(100, 20), usageOf(200, 30)], { inputTokens: 300, outputTokens: 50 }],
  ["is absent if one call reports no usage", [usageOf(100, 20), {}], undefined],
])("the usage of an API %s", async (_, counted, expected) => {
  const answers = ["draft 1", "draft 2 VALID"].map((content, index) => ({
    choices: [{ index: 0, message: { role: "assistant", content }, finish_reason: "stop" }],
    ...counted[index],
  }));
  const { agentId, dispatch, ended } = createAgent(bridges.openai);
  apiAnswers.set(
    agentId,
    answers.map((answer) => json(200, answer)),
  );
  await dispatch({ provider: "openai", model: agentId });
  const { output, usage, costUsd } = await ended("completed");
  expect({ output, usage, costUsd }).toEqual({ output: "draft 2 VALID", usage: expected, costUsd: undefined });
});

/** Creates the usage field of a completion. */
function usageOf(prompt: number, completion: number): object {
  return { usage: { prompt_tokens: prompt, completion_tokens: completion } };
}

describe("a task fails with a message", () => {
  test("when the document is not valid after the last iteration, and keeps the document", async () => {
    const { dispatch, ended, workspace } = createAgent(bridges.command, { fixes: "9" });
    await dispatch({ maxIterations: 2 });
    const { output, outputs, errorCode, error } = await ended("failed");
    expect({ output, errorCode }).toEqual({ output: "draft 2", errorCode: "output_invalid" });
    expect(error).toContain("after 2 iterations. Last report of the tool: error: the word is missing");
    expect(outputs).toMatchObject({ ok: false, iterations: 2, validationLog: expect.stringContaining("the word is missing") });
    const final = outputs.artifacts.filter((name) => name.includes("/final/"));
    expect(readFileSync(path.join(workspace, final.find((name) => name.endsWith("final.md")) ?? ""), "utf8")).toBe("draft 2");
    expect(final).toContainEqual(expect.stringMatching(/INVALID\.txt$/));
  });

  test.each([
    ["the tool is not installed", { tool: "gone" }, {}, "adapter_error", /gone was not found on PATH/],
    ["the tool does not know the topic", { describe: "crash" }, {}, "adapter_error", /exited with code 70/],
    ["the tool crashes", {}, { draft: "CRASH" }, "adapter_error", /SIGSEGV/],
    ["a material is missing", { materials: ["nowhere.md"] }, {}, "user_action_required", /nowhere\.md/],
    ["the adapter is not loaded", { provider: "codex" }, {}, "adapter_offline", /codex/],
    ["the API has no key", { provider: "openai", model: "m" }, {}, "user_action_required", /OPENAI_API_KEY/],
  ])("when %s", async (_when, input, files, errorCode, words) => {
    const { dispatch, ended, dataDir } = createAgent(bridges.command, files);
    await dispatch(input);
    const result = await ended("failed");
    expect(result).toMatchObject({ errorCode, error: expect.stringMatching(words) });
    expect(result.error).not.toContain(dataDir);
  });

  test("when no model is set", async () => {
    const { dispatch, ended } = createAgent(bridges.openai);
    await dispatch({ provider: "openai" });
    const { errorCode, error } = await ended("failed");
    expect(errorCode).toBe("user_action_required");
    expect(error).toMatch(/responderInput\.model or BRIDGE_RESPONDER_MODEL/);
  });

  test("when the API rejects the key, and does not reveal the key", async () => {
    const { agentId, dispatch, ended } = createAgent(bridges.openai);
    apiAnswers.set(agentId, [json(401, { error: { message: "Bad key sk-secret" } })]);
    await dispatch({ provider: "openai", model: agentId });
    const { errorCode, error } = await ended("failed");
    expect(errorCode).toBe("authentication_required");
    expect(error).not.toContain("sk-secret");
  });
});

test("a dispatch with an invalid or forbidden input is rejected before it is accepted", async () => {
  const { dispatch, workspace } = createAgent(bridges.command);
  symlinkSync("/etc/passwd", path.join(workspace, "link"));
  for (const [input, status, field, words] of [
    [{ tool: "rm" }, 422, "responderInput.tool", "words, escaping, gone"],
    [{ materials: ["/etc/passwd"] }, 422, "responderInput.materials.0", "inside the workspace"],
    [{ materials: ["notes.md", "../../default/other/x"] }, 422, "responderInput.materials.1", "inside the workspace"],
    [{ materials: "notes.md" }, 400, "responderInput.materials", "must be an array of at most 100 paths"],
    [{ materials: [""] }, 400, "responderInput.materials.0", "must be a path"],
    [{ describe: "" }, 400, "responderInput.describe", "must be a text"],
    [{ describe: undefined }, 400, "responderInput.describe", "must be a text"],
    [{ maxIterations: 21 }, 400, "responderInput.maxIterations", "from 1 to 20"],
    [{ maxIterations: "3" }, 400, "responderInput.maxIterations", "from 1 to 20"],
    [{ model: 7 }, 400, "responderInput.model", "must be a text"],
    [{ command: "rm" }, 400, "responderInput.command", "is not a field"],
  ] as const) {
    const answer = await dispatch(input);
    expect(await answer.json()).toMatchObject({ status, errors: [{ path: field, message: expect.stringContaining(words) }] });
  }
  const none = await dispatch({}, { responderInput: undefined, message: "x" });
  expect(await none.json()).toMatchObject({
    status: 400,
    errors: [{ path: "responderInput", message: "must be an object with at least tool and describe" }],
  });
});

test("an unreachable API fails the task and keeps the artifacts so far, which record the model of the settings", async () => {
  const settings = { OPENAI_BASE_URL: "http://127.0.0.1:9/v1", OPENAI_API_KEY: "sk-x", BRIDGE_RESPONDER_MODEL: "some-model" };
  const { dispatch, ended, taskId, workspace } = createAgent(await startResponder(settings, onTestFinished));
  await dispatch({ provider: "openai" });
  const { errorCode, error, outputs } = await ended("failed");
  expect(errorCode).toBe("model_error");
  expect(error).toMatch(/127\.0\.0\.1:9|ECONNREFUSED|reached/);
  expect(outputs.artifacts.map((name) => name.split("/").slice(3).join("/"))).toEqual(
    expect.arrayContaining(["inputs/describe.md", "iterations/iter-01/prompt.json", "meta.json"]),
  );
  const meta = JSON.parse(readFileSync(path.join(workspace, ".outputs/responder", taskId, "meta.json"), "utf8"));
  expect(meta).toMatchObject({ provider: "openai", model: "some-model" });
});

test("the document is delivered by callback", async () => {
  const { posts, origin, close } = await startReceiver((response) => response.writeHead(204).end());
  onTestFinished(close);
  const { taskId, dispatch, ended } = createAgent(bridges.command);
  await dispatch({}, { callbackUrl: `${origin}/` });
  await ended("completed");
  await expect.poll(() => posts.length, { timeout: 15_000 }).toBe(1);
  expect(JSON.parse(posts[0]?.body.toString() ?? "")).toMatchObject({
    taskId,
    provider: "responder",
    status: "ok",
    output: "draft 1 VALID",
  });
});

test("tasks with similar ids have separate artifact directories", async () => {
  const { bridge, dispatch } = createAgent(bridges.command);
  for (const taskId of ["a-b", "a_b", "a:b", "::"]) {
    expect((await dispatch({}, { taskId })).status).toBe(202);
    const { outputs } = (await taskInState(bridge, taskId, "completed"))["result"] as Result;
    expect(outputs.artifacts).toContain(`.outputs/responder/${taskId.replaceAll(":", "=")}/meta.json`);
  }
});

test("an existing artifact directory is reported by its path in the workspace", async () => {
  const { dispatch, ended, taskId, workspace } = createAgent(bridges.command);
  mkdirSync(path.join(workspace, `.outputs/responder/${taskId}/inputs`), { recursive: true });
  await dispatch({});
  expect(await ended("failed")).toMatchObject({
    errorCode: "adapter_error",
    error: `Cannot write artifacts to ".outputs/responder/${taskId}": it already contains "inputs"; choose a new or an empty directory.`,
  });
});

test("a link to a file outside the workspace is not read", async () => {
  const { dispatch, ended, workspace } = createAgent(bridges.command);
  symlinkSync("/etc/passwd", path.join(workspace, "link"));
  await dispatch({ materials: ["link"] });
  expect(await ended("failed")).toMatchObject({ errorCode: "user_action_required", error: expect.stringContaining("outside") });
  expect(readdirSync(workspace)).not.toContain("final");
});

test.each([".outputs", ".outputs/responder"])("nothing is written if a task replaced %s with a link", async (planted) => {
  const { dispatch, ended, workspace } = createAgent(bridges.command);
  const outside = path.join(await temporaryDirectory(), "outside");
  for (const directory of [outside, path.dirname(path.join(workspace, planted))]) mkdirSync(directory, { recursive: true });
  symlinkSync(outside, path.join(workspace, planted));
  await dispatch({});
  expect(await ended("failed")).toMatchObject({ errorCode: "adapter_error", error: expect.stringContaining("is not a directory") });
  expect(readdirSync(outside)).toEqual([]);
});

test("a cancel stops the task, its child and its tool", async () => {
  const { bridge, taskId, dispatch, ended } = createAgent(bridges.command, { hang: "" });
  await dispatch({});
  const children = async () =>
    ((await (await bridge.call("GET", `/api/v2/tasks?parentTaskId=${taskId}`)).json()) as { data: { state: string }[] }).data.map(
      ({ state }) => state,
    );
  await expect.poll(children, { timeout: 15_000 }).toEqual(["running"]);
  expect((await bridge.call("POST", `/api/v2/tasks/${taskId}/cancel`)).status).toBe(202);
  expect(await ended("cancelled")).toMatchObject({ errorCode: "cancelled" });
  expect(await children()).toEqual(["cancelled"]);
});

test("no process of a tool outlives the task, even if it changed its environment", async () => {
  const { agentId, dataDir, dispatch, ended } = createAgent(bridges.command);
  const pids = () =>
    readFileSync(path.join(dataDir, "homes/default", agentId, "pids"), "utf8")
      .trim()
      .split("\n")
      .map(Number);
  onTestFinished(() => {
    for (const pid of pids().filter(isAlive)) process.kill(pid, "SIGKILL");
  });
  await dispatch({ tool: "escaping" });
  await ended("completed");
  expect(pids().length).toBeGreaterThanOrEqual(2);
  expect(pids().filter(isAlive)).toEqual([]);
});
