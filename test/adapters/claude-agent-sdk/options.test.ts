import { describe, expect, test } from "vitest";
import type { ExecutionRequest, McpServerSpec } from "#contract";
import { createOptions } from "../../../adapters/claude-agent-sdk/options.ts";
import { createExecutionRequest } from "../../conformance/execution-request.ts";

const server: McpServerSpec = { name: "words", transport: "stdio", command: "/bin/words", env: { TOKEN: "s3cret" } };

const given = (changes: Partial<ExecutionRequest> = {}, schema: string | null = null) =>
  createOptions(
    createExecutionRequest("/w", { directories: { workspace: "/w", cwd: "/w/sub", home: "/h", tmp: "/t" }, ...changes }),
    schema,
  );

describe("the options of the SDK", () => {
  test.each([
    ["inspect", "allow", ["Glob", "Grep", "Read"], "dontAsk", undefined],
    ["inspect", "ask", ["Glob", "Grep", "Read"], "dontAsk", undefined],
    ["modify", "deny", expect.arrayContaining(["Bash", "Write"]), "acceptEdits", "mcp__words"],
    ["modify", "ask", expect.arrayContaining(["Bash", "Write"]), "acceptEdits", "mcp__words"],
    ["modify", "allow", expect.arrayContaining(["Bash", "Write"]), "acceptEdits", "Bash,WebFetch,WebSearch,mcp__words"],
  ] as const)(
    "the options of the SDK set the permissions of profile %s with approvals %s",
    (profile, approvals, tools, permissionMode, allowedTools) => {
      const options = given({ profile, approvals, mcpServers: [server] });
      expect(options).toMatchObject({ tools, permissionMode });
      expect((options["extraArgs"] as Record<string, unknown>)["allowedTools"]).toBe(allowedTools);
    },
  );

  test.each([
    ["inspect", "ask", []],
    ["modify", "deny", ["Bash", "WebFetch", "WebSearch"]],
    ["modify", "ask", ["Bash", "WebFetch", "WebSearch"]],
    ["modify", "allow", []],
  ] as const)(
    "the options of the SDK contain a rule per tool that needs approval with profile %s and approvals %s",
    (profile, approvals, ask) => {
      expect(given({ profile, approvals })["settings"]).toEqual({ permissions: { ask } });
    },
  );

  test("the options of the SDK omit MCP servers with profile inspect, because their tools may change files", () => {
    expect(given({ profile: "inspect", mcpServers: [server] })["extraArgs"]).not.toHaveProperty("mcp-config");
  });

  test("the options of the SDK exclude other settings and never skip permissions", () => {
    expect(given()).toMatchObject({
      settingSources: [],
      strictMcpConfig: true,
      allowDangerouslySkipPermissions: false,
      includePartialMessages: true,
      cwd: "/w/sub",
      extraArgs: { restricted: null, "system-prompt-snapshot": "off" },
    });
  });

  test("the options of the SDK contain no message and no server secret, because servers are configured in a file", () => {
    const options = given({ mcpServers: [server] });
    expect(options).toMatchObject({ extraArgs: { "mcp-config": "/t/mcp.json" } });
    expect(JSON.stringify(options)).not.toMatch(/s3cret|Do it/);
  });

  test("the options of the SDK append the system prompt to that of Claude Code", () => {
    expect(given()["systemPrompt"]).toEqual({ type: "preset", preset: "claude_code" });
    expect(given({ systemPrompt: "be brief" })["systemPrompt"]).toMatchObject({ preset: "claude_code", append: "be brief" });
  });

  test("the options of the SDK contain model, session and schema only if the dispatch names them", () => {
    for (const name of ["model", "resume", "outputFormat"]) expect(given()).not.toHaveProperty(name);
    expect(given({ model: "m", resumeToken: "s" }, '{"type":"object"}')).toMatchObject({
      model: "m",
      resume: "s",
      outputFormat: { type: "json_schema", schema: { type: "object" } },
    });
  });
});
