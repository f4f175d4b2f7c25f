import path from "node:path";
import { describe, expect, test } from "vitest";
import type { ExecutionRequest } from "#contract";
import type { Received } from "./raw-endpoint.ts";
import { offeredTools, openToolEndpoint, receivedResults } from "./tool-endpoint.ts";
import { openVercelFixture } from "./vercel-fixture.ts";

const tools = ["ask_user", "send_mail"].map((name) => ({
  name,
  description: `Does ${name}.`,
  inputSchema: { type: "object", properties: { to: {} } },
}));
const words = path.join(import.meta.dirname, "../../../fixtures/programs/wild-mcp-server.js");
const mcpServers: ExecutionRequest["mcpServers"] = [{ name: "wild", transport: "stdio", command: process.execPath, args: [words] }];
const ask = { id: "call_a", name: "ask_user", input: { to: "Eve" } };
const mail = { id: "call_b", name: "send_mail", input: {} };
const rolesOf = ({ body }: Received) => (body["messages"] as { role: string }[]).map(({ role }) => role);

test("a call of a declared tool ends the task, with the call reported and left open", async () => {
  const { url, requests } = await openToolEndpoint([ask], "I must ask. ");
  const fixture = await openVercelFixture({ baseUrl: url });
  const { result, events } = await fixture.run({ tools });
  expect(result).toMatchObject({
    status: "ok",
    outputs: { toolCalls: [{ toolCallId: "call_a", toolName: "ask_user", input: { to: "Eve" } }] },
    resumeToken: expect.any(String),
  });
  expect(events.filter(({ type }) => type.startsWith("tool."))).toMatchObject([
    { type: "tool.invoked", data: { toolCallId: "call_a", toolName: "ask_user", input: { to: "Eve" } } },
  ]);
  expect(requests).toHaveLength(1);
  expect(offeredTools(requests[0] as Received)).toEqual(["ask_user", "send_mail"]);
});

describe("the next message answers", () => {
  test.each([
    ["the one call with its result", [ask], "Eve says yes.", { call_a: "Eve says yes." }, ["user", "assistant", "tool"]],
    ["the one call with an object as its result", [ask], '{"says":"yes"}', { call_a: '{"says":"yes"}' }, ["user", "assistant", "tool"]],
    ["one call by its id", [ask], '{"call_a": {"says": "yes"}}', { call_a: '{"says":"yes"}' }, ["user", "assistant", "tool"]],
    [
      "several calls by their ids",
      [ask, mail],
      '{"call_a": "yes }", "call_b": 2}',
      { call_a: "yes }", call_b: "2" },
      ["user", "assistant", "tool", "tool"],
    ],
    [
      "with additional text",
      [ask, mail],
      '{"call_a": "yes", "call_b": ""}\n\nBe quick.',
      { call_a: "yes", call_b: "" },
      ["user", "assistant", "tool", "tool", "user"],
    ],
  ])("%s", async (_, calls, message, results, roles) => {
    const { url, requests } = await openToolEndpoint(calls);
    const fixture = await openVercelFixture({ baseUrl: url });
    const { resumeToken = "" } = (await fixture.run({ tools })).result;
    const { result } = await fixture.run({ tools, message, resumeToken });
    expect(result).toMatchObject({ status: "ok", output: "Done.", resumeToken });
    expect(result.outputs).toBeUndefined();
    expect(receivedResults(requests[1] as Received)).toEqual(results);
    expect(rolesOf(requests[1] as Received)).toEqual(roles);
  });

  test.each([
    ["text", "yes", /waits for the results of 2 tool calls.*call_a, call_b/],
    ["only one of them", '{"call_a": "yes"}', /waits for the results of 2 tool calls/],
    ["an array", "[1, 2]", /waits for the results of 2 tool calls/],
    ["invalid JSON", '{"call_a": yes, "call_b": 1}', /waits for the results of 2 tool calls/],
    ["an unknown call id", '{"call_a": 1, "call_b": 2, "call_c": 3}', /results for unknown calls: call_c/],
  ])("the next message answers with %s to several calls: it is rejected, and the calls still wait", async (_, message, words) => {
    const { url, requests } = await openToolEndpoint([ask, mail]);
    const fixture = await openVercelFixture({ baseUrl: url });
    const { resumeToken = "" } = (await fixture.run({ tools })).result;
    expect((await fixture.run({ tools, message, resumeToken })).result).toMatchObject({
      status: "error",
      errorCode: "adapter_error",
      error: expect.stringMatching(words),
      resumeToken,
    });
    expect(requests).toHaveLength(1);
    const answered = await fixture.run({ tools, message: '{"call_a":"1","call_b":"2"}', resumeToken });
    expect(answered.result).toMatchObject({ status: "ok", output: "Done." });
  });
});

test("a step may call an MCP tool and a declared one: the first is executed, the other waits", async () => {
  const { url, requests } = await openToolEndpoint([{ id: "call_m", name: "mcp__wild__tell_it" }, ask]);
  const fixture = await openVercelFixture({ baseUrl: url });
  const { result, events } = await fixture.run({ tools, mcpServers });
  expect(result).toMatchObject({ status: "ok", outputs: { toolCalls: [{ toolCallId: "call_a" }] } });
  expect(result.outputs?.["toolCalls"]).toHaveLength(1);
  expect(events.flatMap((event) => (event.type === "tool.completed" ? [event.data.toolCallId] : []))).toEqual(["call_m"]);
  const { resumeToken = "" } = result;
  const next = await fixture.run({ tools, mcpServers, message: "Eve says yes.", resumeToken });
  expect(next.result).toMatchObject({ status: "ok", output: "Done." });
  expect(receivedResults(requests[1] as Received)).toEqual({ call_m: "the other one", call_a: "Eve says yes." });
});

test("an input that is not JSON is returned to the model as an error", async () => {
  const { url, requests } = await openToolEndpoint([{ id: "c1", name: "ask_user", input: "{oops" }]);
  const fixture = await openVercelFixture({ baseUrl: url });
  const { result } = await fixture.run({ tools });
  expect([result.status, requests.length]).toEqual(["ok", 2]);
});
