import { describe, expect, test } from "vitest";
import type { ExecutionRequest, McpServerSpec } from "#contract";
import { createClaudeArguments } from "../../../adapters/claude/arguments.ts";
import { formatMcpConfig } from "../../../adapters/shared/claude-code/mcp-config.ts";
import { markToolServer } from "../../../adapters/shared/declared-tools/tool-server-spec.ts";
import { createExecutionRequest } from "../../conformance/execution-request.ts";

const files = { systemPrompt: "/tmp/t/system-prompt.md", mcpConfig: "/tmp/t/mcp.json" };
const server: McpServerSpec = { name: "words", transport: "stdio", command: "/bin/words", env: { TOKEN: "s3cret" } };

const argumentsOf = (changes: Partial<ExecutionRequest> = {}) => createClaudeArguments(createExecutionRequest("/w", changes), files);
const readValue = (flag: string, given: readonly string[]) => given.find((one) => one.startsWith(`${flag}=`))?.slice(flag.length + 1);

describe("the arguments of claude", () => {
  test.each([
    ["inspect", "allow", "Glob,Grep,Read", "dontAsk", undefined],
    ["inspect", "deny", "Glob,Grep,Read", "dontAsk", undefined],
    ["modify", "deny", expect.stringContaining("Bash"), "acceptEdits", "mcp__words"],
    ["modify", "allow", expect.stringContaining("Bash"), "acceptEdits", "Bash,WebFetch,WebSearch,mcp__words"],
  ] as const)("the arguments of claude set the permissions of profile %s with approvals %s", (profile, approvals, tools, mode, allowed) => {
    const given = argumentsOf({ profile, approvals, mcpServers: [server] });
    expect(readValue("--tools", given)).toEqual(tools);
    expect(readValue("--permission-mode", given)).toBe(mode);
    expect(readValue("--allowedTools", given)).toBe(allowed);
  });

  test.each([
    ["inspect", "allow", "mcp__bridge"],
    ["inspect", "deny", "mcp__bridge"],
    ["modify", "deny", "mcp__words,mcp__bridge"],
  ] as const)("the arguments of claude allow the declared tools with profile %s and approvals %s", (profile, approvals, allowed) => {
    const declared = markToolServer({
      name: "bridge",
      transport: "http",
      url: "http://127.0.0.1:1/mcp",
      headers: { Authorization: "Bearer x" },
    });
    expect(readValue("--allowedTools", argumentsOf({ profile, approvals, mcpServers: [server, declared] }))).toBe(allowed);
    expect(Object.keys(JSON.parse(formatMcpConfig([declared])).mcpServers.bridge)).toEqual(["type", "url", "headers"]);
  });

  test.each([
    ["inspect", "deny", []],
    ["inspect", "allow", []],
    ["modify", "deny", ["Bash", "WebFetch", "WebSearch"]],
    ["modify", "allow", []],
  ] as const)(
    "the arguments of claude contain a rule per tool that needs approval with profile %s and approvals %s",
    (profile, approvals, ask) => {
      expect(JSON.parse(readValue("--settings", argumentsOf({ profile, approvals })) ?? "")).toEqual({ permissions: { ask } });
    },
  );

  test("the arguments of claude omit MCP servers with profile inspect, because their tools may change files", () => {
    expect(readValue("--mcp-config", argumentsOf({ profile: "inspect", mcpServers: [server] }))).toBeUndefined();
  });

  test("the arguments of claude exclude other settings, disable permission prompts and never skip permissions", () => {
    const given = argumentsOf();
    for (const flag of ["--setting-sources=", "--strict-mcp-config", "--restricted", "--permission-prompts=none", "--verbose"])
      expect(given).toContain(flag);
    expect(given.join(" ")).not.toMatch(/dangerously|bypass/);
  });

  test("the arguments of claude contain no message, system prompt or server secret, only paths of files", () => {
    const given = argumentsOf({ systemPrompt: "be brief", mcpServers: [server] });
    expect(given.join(" ")).not.toMatch(/Do it|be brief|s3cret/);
    expect(readValue("--append-system-prompt-file", given)).toBe(files.systemPrompt);
    expect(readValue("--mcp-config", given)).toBe(files.mcpConfig);
  });

  test("the arguments of claude join every value to its flag, so that no value is parsed as a flag", () => {
    const hostile = "--dangerously-skip-permissions";
    const given = argumentsOf({ model: hostile, resumeToken: hostile, systemPrompt: hostile });
    expect(given).not.toContain(hostile);
    expect(given).toContain(`--model=${hostile}`);
  });

  test("name the tools of a server as Claude Code does, for any server name", () => {
    const mcpServers = ["x,Bash(*) y", "GitHub (prod)", "GitHub.prod"].map((name) => ({ ...server, name }));
    const given = argumentsOf({ approvals: "deny", mcpServers });
    expect(readValue("--allowedTools", given)).toBe("mcp__x_Bash_y,mcp__GitHub_prod,mcp__GitHub_prod_2");
    expect(Object.keys(JSON.parse(formatMcpConfig(mcpServers)).mcpServers)).toEqual(["x_Bash_y", "GitHub_prod", "GitHub_prod_2"]);
  });
});
