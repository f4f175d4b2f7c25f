import { expect, test } from "vitest";
import { FAILED_SERVER as CODEX_PATTERN } from "../../../../adapters/codex/mcp-servers.ts";
import { FAILED_SERVER as GEMINI_PATTERN } from "../../../../adapters/gemini/settings-file.ts";
import { FAILED_SERVER as OPENCODE_PATTERN } from "../../../../adapters/opencode/program.ts";
import { createFailedServerReader } from "../../../../adapters/shared/agent-program/failed-mcp-servers.ts";

/** The lines are recorded from the programs. */
const recorded: [string, RegExp, string][] = [
  [
    "codex",
    CODEX_PATTERN,
    '2026-11-28T22:03:43.853005Z  WARN codex_mcp::rmcp_client: MCP server startup failed server_name="rt" error=handshaking with MCP server failed: connection closed',
  ],
  [
    "codex with colors",
    CODEX_PATTERN,
    '\u001b[2m2026-11-28T22:03:46Z\u001b[0m \u001b[33m WARN\u001b[0m \u001b[2mcodex_mcp\u001b[0m: MCP server startup failed \u001b[3mserver_name\u001b[0m\u001b[2m=\u001b[0m"rt" \u001b[3merror\u001b[0m=closed',
  ],
  [
    "gemini",
    GEMINI_PATTERN,
    "[2026-11-28T22:05:50.330Z] [LOG] [MCP error] Error during discovery for MCP server 'rt': MCP error -32000: Connection closed",
  ],
  [
    "opencode",
    OPENCODE_PATTERN,
    'timestamp=2026-11-28T22:03:52.161Z level=WARN run=cd6a1cdf message="server unavailable" key=rt type=local status=failed',
  ],
];

test.each(recorded)("a server that %s reports as failed is named once, in progress and as a warning", (_, pattern, line) => {
  const progress: unknown[] = [];
  const read = createFailedServerReader(pattern, {
    request: { mcpServers: ["other", "rt"].map((name) => ({ name, transport: "stdio", command: "x" })) },
    timeline: { reportProgress: (data) => progress.push(data) },
  });
  for (const each of ["another line", line, line, line.replace("rt", "unknown")]) read(each);
  expect(progress).toEqual([
    { failedMcpServers: ["rt"], warning: "The task runs without these MCP servers, because they did not start: rt." },
  ]);
});
