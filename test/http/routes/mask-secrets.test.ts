import { expect, test } from "vitest";
import { MASK, maskSecrets } from "../../../src/http/routes/mask-secrets.ts";
import type { TaskRequest } from "../../../src/task.ts";

const request: TaskRequest = {
  ...{ message: "Look.", profile: "inspect", approvals: "deny", onInterrupt: "fail" },
  outputStrategy: { type: "stream" },
};

test("a request without MCP servers is unchanged", () => {
  expect(maskSecrets(request)).toEqual({ request, masked: [] });
});

test("arguments, environment variables and headers of MCP servers are replaced, and their paths are listed", () => {
  const mcpServers: TaskRequest["mcpServers"] = [
    { name: "files", transport: "stdio", command: "mcp-files", args: ["--token", "secret"], env: { TOKEN: "secret", EMPTY: "" } },
    { name: "bare", transport: "stdio", command: "mcp-bare" },
    { name: "docs", transport: "http", url: "https://docs.example/mcp", headers: { Authorization: "Bearer secret" } },
  ];
  const { request: shown, masked } = maskSecrets({ ...request, mcpServers });
  expect(shown.mcpServers).toEqual([
    { name: "files", transport: "stdio", command: "mcp-files", args: [MASK, MASK], env: { TOKEN: MASK, EMPTY: MASK } },
    { name: "bare", transport: "stdio", command: "mcp-bare" },
    { name: "docs", transport: "http", url: "https://docs.example/mcp", headers: { Authorization: MASK } },
  ]);
  expect(masked).toEqual([
    ...["mcpServers.0.args.0", "mcpServers.0.args.1", "mcpServers.0.env.TOKEN", "mcpServers.0.env.EMPTY"],
    "mcpServers.2.headers.Authorization",
  ]);
});

test.each([
  ["https://docs.example/mcp", "https://docs.example/mcp", []],
  ["https://user:secret@docs.example/mcp", "https://***:***@docs.example/mcp", ["mcpServers.0.url"]],
  ["https://docs.example/mcp?key=secret&other=1#secret", "https://docs.example/mcp?***#***", ["mcpServers.0.url"]],
])("user info, query and fragment of the URL of an MCP server are replaced: %s", (url, shownUrl, paths) => {
  const { request: shown, masked } = maskSecrets({ ...request, mcpServers: [{ name: "docs", transport: "sse", url }] });
  expect(shown.mcpServers).toEqual([{ name: "docs", transport: "sse", url: shownUrl }]);
  expect(masked).toEqual(paths);
});
