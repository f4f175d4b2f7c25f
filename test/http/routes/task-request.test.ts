import { afterAll, beforeAll, expect, test } from "vitest";
import { type Bridge, expectProblem, startBridge } from "../../support/start-bridge.ts";

let bridge: Bridge;
beforeAll(async () => {
  bridge = await startBridge({ BRIDGE_MCP_COMMANDS: "mcp-files" });
});
afterAll(() => bridge.close());

test("the request of a task has the values of its dispatch and the defaults of Bridge", async () => {
  const tools = [{ type: "function", function: { name: "find", parameters: { type: "object" } } }];
  const outputSchema = { type: "object" };
  const sent = { message: "Hello.", stdin: "é\0", metadata: { order: 7 }, timeout: 30, files: [{ path: "a.md", content: "A" }] };
  await bridge.dispatch({ taskId: "whole", ...sent, tools, outputSchema, onInterrupt: "retry" });
  const { status, body } = await bridge.call("GET", "/api/v2/tasks/whole/request", { token: "reader" });
  expect(status).toBe(200);
  expect(body).toEqual({
    request: {
      ...{ taskId: "whole", provider: "memory", agentId: "writer", message: "Hello.", stdin: "é\0", metadata: { order: 7 } },
      ...{ timeoutSeconds: 30, files: [{ path: "a.md", content: "A" }], onInterrupt: "retry", profile: "inspect", approvals: "deny" },
      outputStrategy: { type: "structured", schema: { type: "object" } },
      tools: [{ name: "find", description: "", inputSchema: { type: "object" } }],
    },
    masked: [],
  });
});

test("the request of a task is a valid dispatch", async () => {
  await bridge.dispatch({ taskId: "first", message: "Again.", tools: [{ name: "find", inputSchema: { type: "object" } }] });
  const { request } = (await bridge.call("GET", "/api/v2/tasks/first/request")).body;
  const again = await bridge.call("POST", "/api/v2/dispatch", { body: { ...request, taskId: "second" } });
  expect(again.status).toBe(202);
  const copy = (await bridge.call("GET", "/api/v2/tasks/second/request")).body;
  expect(copy).toEqual({ request: { ...request, taskId: "second" }, masked: [] });
});

test("the request of a task contains no secrets of its MCP servers", async () => {
  const mcpServers = [{ name: "files", transport: "stdio", command: "mcp-files", args: ["s3cret"], env: { TOKEN: "s3cret" } }];
  expect((await bridge.dispatch({ taskId: "secretive", mcpServers })).status).toBe(202);
  const { text, body } = await bridge.call("GET", "/api/v2/tasks/secretive/request");
  expect(text).not.toContain("s3cret");
  expect(body.masked).toEqual(["mcpServers.0.args.0", "mcpServers.0.env.TOKEN"]);
});

test("the request of an unknown task results in 404", async () => {
  expectProblem(await bridge.call("GET", "/api/v2/tasks/unknown/request"), "not_found");
});
