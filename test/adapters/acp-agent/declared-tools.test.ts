import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { startBridgeApp } from "../../support/bridge-app.ts";
import { startBridgeProgram } from "../../support/bridge-program.ts";
import { temporaryDirectory } from "../../support/temporary-directory.ts";
import { scriptedCommand } from "./scripted-agent.ts";

const settings = { BRIDGE_ADAPTERS: "command,acp:my-agent", BRIDGE_ACP_AGENTS: JSON.stringify({ "my-agent": scriptedCommand }) };
const tools = [{ type: "function", function: { name: "ask_user", parameters: { type: "object" } } }];
const call = { callTool: { name: "ask_user", input: { question: "Which?" } } };
const dispatchOf = (message: string, changes: object = {}) => ({ agentId: "a", provider: "my-agent", message, tools, ...changes });
const playing = (...steps: object[]) => JSON.stringify({ steps });
const wait = { prefer: "wait=30" };

interface TaskBody {
  taskId: string;
  state: string;
  result: { output?: string; outputs?: { toolCalls: { toolCallId: string }[] }; resumeToken?: string; errorCode?: string } | null;
}

test("a task returns a call of a declared tool to the caller and receives its result in the same session", async () => {
  const bridge = await startBridgeApp(await temporaryDirectory(), settings);
  const dispatch = async (body: object) => (await (await bridge.call("POST", "/api/v2/dispatch", body, wait)).json()) as TaskBody;
  const first = await dispatch(dispatchOf(playing(call, { untilCancelled: true }, { end: { stopReason: "cancelled" } })));
  expect(first).toMatchObject({
    state: "completed",
    result: { status: "ok", outputs: { toolCalls: [{ toolName: "ask_user", input: { question: "Which?" } }] } },
  });
  const { outputs, resumeToken } = first.result ?? {};
  const toolCallId = outputs?.toolCalls[0]?.toolCallId ?? "";
  const next = await dispatch(dispatchOf(JSON.stringify({ [toolCallId]: "The blue one." }), { resumeToken, tools: [] }));
  expect(next).toMatchObject({ state: "completed", result: { output: expect.stringContaining('"result":"The blue one."') } });
});

test("after kill -9 during a tool call, its tool server is closed, and the task fails at the next start", {
  timeout: 90_000,
}, async () => {
  const dataDir = await temporaryDirectory();
  const bridge = await startBridgeProgram(dataDir, settings);
  const working = { update: { sessionUpdate: "tool_call", toolCallId: "1", title: "work", kind: "execute", status: "in_progress" } };
  const accepted = (await (
    await bridge.call("POST", "/api/v2/dispatch", dispatchOf(playing(working, call, { hang: true })))
  ).json()) as TaskBody;
  const events = async (): Promise<string> => (await bridge.call("GET", `/api/v2/tasks/${accepted.taskId}/events`)).text();
  await expect.poll(events, { timeout: 40_000 }).toContain('"toolName":"ask_user"');
  const [messages = ""] = readdirSync(dataDir, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith("received.jsonl"));
  const [url = ""] = /http:\/\/127\.0\.0\.1:\d+\/mcp/.exec(readFileSync(path.join(dataDir, messages), "utf8")) ?? [];
  expect((await fetch(url, { method: "POST" })).status).toBe(401);

  bridge.signal("SIGKILL");
  await bridge.exited;
  await expect(fetch(url, { method: "POST" })).rejects.toThrow();
  const again = await startBridgeProgram(dataDir, settings);
  const task = async () => (await (await again.call("GET", `/api/v2/tasks/${accepted.taskId}`)).json()) as TaskBody;
  await expect.poll(task, { timeout: 40_000 }).toMatchObject({ state: "failed", result: { errorCode: "bridge_restarted" } });
  expect((await task()).result?.outputs).toBeUndefined();
});
