import { mkdirSync } from "node:fs";
import path from "node:path";
import { expect, onTestFinished, test } from "vitest";
import type { AdapterEvent, ExecutionRequest } from "#contract";
import { findToolName } from "../../../../adapters/acp-agent/tool-name.ts";
import type { AcpProfile } from "../../../../adapters/shared/acp/acp-profile.ts";
import { createAdapterConfig } from "../../../conformance/adapter-config.ts";
import { createExecutionRequest } from "../../../conformance/execution-request.ts";
import { temporaryDirectory } from "../../../support/temporary-directory.ts";
import { answers, createScriptedAdapter, received, type Script, scripted, scriptedProfile } from "./scripted-acp.ts";

const tools = [{ name: "ask_user", description: "Asks the user.", inputSchema: { type: "object" } }];
const options = [
  { optionId: "yes", name: "Yes", kind: "allow_once" },
  { optionId: "no", name: "No", kind: "reject_once" },
];
/** An agent that does not support MCP over HTTP. */
const startingServers = { agentCapabilities: { sessionCapabilities: { resume: {} } } };

async function open(script: Script, given: Partial<ExecutionRequest> = {}, profile: Partial<AcpProfile> = {}) {
  const root = await temporaryDirectory();
  const adapter = createScriptedAdapter({ capabilities: { ...scriptedProfile.capabilities, tools: true }, ...profile });
  const events: AdapterEvent[] = [];
  adapter.onEvent((event) => events.push(event));
  onTestFinished(() => adapter.shutdown());
  await adapter.initialize(createAdapterConfig(root));
  const home = path.join(root, "home");
  mkdirSync(home);
  const run = (changes: Partial<ExecutionRequest>) =>
    adapter.execute(createExecutionRequest(root, { profile: "inspect", approvals: "deny", tools, ...changes }));
  return { result: await run({ ...scripted(script), ...given }), run, events, home };
}

const call = { callTool: { name: "ask_user", input: { question: "Which?" } } };
const stopped = [{ untilCancelled: true }, { end: { stopReason: "cancelled" } }];

test.each([
  ["over HTTP", {}],
  ["by a program that it starts", { initialize: startingServers }],
])("a call that reaches Bridge %s ends the task, and the next task resumes the session with the result", async (_, script) => {
  const { result, run, events, home } = await open({ ...script, steps: [{ say: "I must ask." }, call, ...stopped] });
  expect(result).toMatchObject({
    status: "ok",
    output: "",
    outputs: { toolCalls: [{ toolName: "ask_user", input: { question: "Which?" } }] },
    resumeToken: expect.any(String),
  });
  expect(events.filter(({ type }) => type.startsWith("tool.")).map(({ type }) => type)).toEqual(["tool.invoked"]);
  const { resumeToken = "" } = result;
  const thanks = scripted({ ...script, steps: [{ say: "Thanks." }, { end: {} }] });
  const next = await run({ taskId: "t2", message: "The blue one.", resumeToken, tools: [], ...thanks });
  expect(next).toMatchObject({ status: "ok", output: "Thanks.", resumeToken });
  const prompts = received(home).flatMap(({ method, params }) => (method === "session/prompt" ? [JSON.stringify(params?.["prompt"])] : []));
  expect(prompts[1]).toContain("The blue one.");
});

test("an agent that ignores the end of its turn is stopped, and its session can still be resumed", async () => {
  const { result } = await open({ ignores: ["cancel"], steps: [call, { hang: true }] });
  expect(result).toMatchObject({ status: "ok", outputs: { toolCalls: [{ toolName: "ask_user" }] }, resumeToken: expect.any(String) });
});

test.each([
  ["its name", { name: "mcp__bridge__ask_user" }],
  ["its title", { title: "ask_user (bridge MCP Server)", kind: "other" }],
])("a declared tool needs no approval and is reported once; recognized by %s", async (_, named) => {
  const toolCall = { toolCallId: "1", status: "in_progress", ...named };
  const { result, events, home } = await open({
    steps: [
      { update: { sessionUpdate: "tool_call", ...toolCall } },
      { ask: { toolCall, options } },
      { ask: { toolCall: { toolCallId: "2", title: "bridge_ask_user; rm -rf /", kind: "execute" }, options } },
      call,
      ...stopped,
    ],
  });
  expect(result).toMatchObject({ status: "ok", outputs: { toolCalls: [{ toolName: "ask_user" }] } });
  expect(answers(home)).toMatchObject([{ outcome: { optionId: "yes" } }, { outcome: { optionId: "no" } }]);
  const invoked = events.flatMap((event) => (event.type === "tool.invoked" ? [event.data.toolName] : []));
  expect(invoked).toEqual(["execute", "ask_user"]);
});

test.each([
  ["a command as its title", { title: "bridge_ask_user", kind: "execute" }, "execute"],
  ["the description of a sub-agent as its title", { title: "ask_user (bridge MCP Server)", kind: "think" }, "think"],
  ["a title, where the agent reports another name", { title: "bridge_ask_user", kind: "other", _meta: { toolName: "Agent" } }, "Agent"],
  ["fields of the input of a command", { title: "rm -rf .", kind: "execute", rawInput: { server: "bridge", tool: "ask_user" } }, "execute"],
])("a model cannot disguise another call as a declared tool by %s", async (_, named, toolName) => {
  const toolCall = { toolCallId: "1", status: "in_progress", ...named };
  const { events, home } = await open({ steps: [{ ask: { toolCall, options } }, { end: {} }] }, {}, { toolName: findToolName });
  expect(answers(home)).toMatchObject([{ outcome: { optionId: "no" } }]);
  expect(events.flatMap((event) => (event.type === "tool.invoked" ? [event.data.toolName] : []))).toEqual([toolName]);
});
