import { expect, test } from "vitest";
import type { McpServerSpec } from "#contract";
import { formatMcpConfig } from "../../../../adapters/shared/claude-code/mcp-config.ts";

const server: McpServerSpec = { name: "words", transport: "stdio", command: "/bin/words", env: { TOKEN: "s3cret" } };

test("the MCP configuration file escapes every `$` that Claude Code would expand", () => {
  const dollar = "$";
  const servers: McpServerSpec[] = [
    { ...server, args: [`${dollar}{HOME}`, `${dollar}HOME`] },
    { name: "far", transport: "http", url: "https://far.example/", headers: { Authorization: `Bearer ${dollar}{KEY:-x}` } },
  ];
  expect(JSON.parse(formatMcpConfig(servers))).toEqual({
    mcpServers: {
      words: {
        type: "stdio",
        command: "/bin/words",
        args: [`${dollar}{BRIDGE_DOLLAR}{HOME}`, `${dollar}HOME`],
        env: { TOKEN: "s3cret" },
      },
      far: { type: "http", url: "https://far.example/", headers: { Authorization: `Bearer ${dollar}{BRIDGE_DOLLAR}{KEY:-x}` } },
    },
  });
});
