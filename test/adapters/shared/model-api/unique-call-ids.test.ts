import path from "node:path";
import { expect, test } from "vitest";
import { beginStream, openEndpoint, type Received, sendChunk } from "./raw-endpoint.ts";
import { receivedResults } from "./tool-endpoint.ts";
import { openVercelFixture } from "./vercel-fixture.ts";

const script = path.join(import.meta.dirname, "../../../fixtures/programs/wild-mcp-server.js");
const mcpServers = [{ name: "wild", transport: "stdio" as const, command: process.execPath, args: [script, "plain"] }];
const tools = [{ name: "ask_user", description: "Asks.", inputSchema: { type: "object" } }];

/** A model that calls one tool per answer, always with the same id, and then answers with text. */
function openForgetfulEndpoint(names: readonly string[]): ReturnType<typeof openEndpoint> {
  let asked = 0;
  return openEndpoint(({ response }) => {
    const name = names[asked];
    asked += 1;
    beginStream(response);
    if (name === undefined) sendChunk(response, { content: "Done." });
    else sendChunk(response, { tool_calls: [{ index: 0, id: "call_0", type: "function", function: { name, arguments: "{}" } }] });
    sendChunk(response, {}, name === undefined ? "stop" : "tool_calls");
    response.end("data: [DONE]\n\n");
  });
}

test("each call of a task is approved and reported separately, even if the model gives all of them one id", async () => {
  const { url, requests } = await openForgetfulEndpoint(["mcp__wild__tell_it", "mcp__wild__say-no"]);
  const fixture = await openVercelFixture({ baseUrl: url });
  fixture.answers.next = async () => ({ decision: "approve", reason: "" });
  const { result, events } = await fixture.run({ mcpServers, profile: "modify", approvals: "ask" });
  expect(result).toMatchObject({ status: "ok", output: "Done." });
  expect(fixture.questions.map(({ toolCallId, toolName }) => [toolCallId, toolName])).toEqual([
    ["call_0", "mcp__wild__tell_it"],
    ["call_0_2", "mcp__wild__say-no"],
  ]);
  const toolEvents = events.flatMap(({ type, data }) => ("toolCallId" in data ? [[type, data.toolCallId]] : []));
  expect(toolEvents).toEqual([
    ["tool.invoked", "call_0"],
    ["tool.completed", "call_0"],
    ["tool.invoked", "call_0_2"],
    ["tool.completed", "call_0_2"],
  ]);
  expect(receivedResults(requests[2] as Received)).toEqual({ call_0: "the other one", call_0_2: "It cannot be done." });
});

test("a conversation continues even if the model gives the call of each turn one id", async () => {
  const { url, requests } = await openForgetfulEndpoint(["ask_user", "ask_user"]);
  const fixture = await openVercelFixture({ baseUrl: url });
  const { resumeToken = "" } = (await fixture.run({ tools })).result;
  const second = await fixture.run({ tools, message: "one", resumeToken });
  expect(second.result.outputs).toMatchObject({ toolCalls: [{ toolCallId: "call_0_2" }] });
  const third = await fixture.run({ tools, message: "two", resumeToken });
  expect(third.result).toMatchObject({ status: "ok", output: "Done." });
  expect(receivedResults(requests[2] as Received)).toEqual({ call_0: "one", call_0_2: "two" });
});
