import { describe, expect, test } from "vitest";
import type { ExecutionRequest, McpServerSpec } from "#contract";
import { claudeArguments, mcpConfig, nativeSchema } from "../../../adapters/claude/arguments.ts";
import { claudeEnvironment } from "../../../adapters/claude/environment.ts";
import type { ProgramContext } from "../../../adapters/program/agent-program.ts";
import { programSettingsSchema } from "../../../adapters/program/program-settings.ts";

const files = { systemPrompt: "/tmp/t/system-prompt.md", mcpConfig: "/tmp/t/mcp.json" };
const server: McpServerSpec = { name: "words", transport: "stdio", command: "/bin/words", env: { TOKEN: "s3cret" } };

const argumentsOf = (changes: Partial<ExecutionRequest> = {}) =>
  claudeArguments(
    {
      taskId: "t",
      agentId: "a",
      message: "Do it.",
      timeoutSeconds: 60,
      outputStrategy: { type: "stream" },
      profile: "modify",
      approvals: "allow",
      directories: { workspace: "/w", cwd: "/w", home: "/h", tmp: "/t" },
      ...changes,
    },
    files,
  );
const readValue = (flag: string, given: readonly string[]) => given.find((one) => one.startsWith(`${flag}=`))?.slice(flag.length + 1);

describe("the arguments", () => {
  test.each([
    ["inspect", "allow", "Glob,Grep,Read", "dontAsk", undefined],
    ["inspect", "deny", "Glob,Grep,Read", "dontAsk", undefined],
    ["modify", "deny", expect.stringContaining("Bash"), "acceptEdits", "mcp__words"],
    ["modify", "allow", expect.stringContaining("Bash"), "acceptEdits", "Bash,WebFetch,WebSearch,mcp__words"],
  ] as const)("of %s with approvals %s", (profile, approvals, tools, mode, allowed) => {
    const given = argumentsOf({ profile, approvals, mcpServers: [server] });
    expect(readValue("--tools", given)).toEqual(tools);
    expect(readValue("--permission-mode", given)).toBe(mode);
    expect(readValue("--allowedTools", given)).toBe(allowed);
  });

  test("shut out all settings but ours, ask nobody, and never skip permissions (trap 18)", () => {
    const given = argumentsOf();
    for (const flag of ["--setting-sources=", "--strict-mcp-config", "--restricted", "--permission-prompts=none", "--verbose"])
      expect(given).toContain(flag);
    expect(given.join(" ")).not.toMatch(/dangerously|bypass/);
  });

  test("hold neither the message nor the system prompt nor a server's secret, but files", () => {
    const given = argumentsOf({ systemPrompt: "be brief", mcpServers: [server] });
    expect(given.join(" ")).not.toMatch(/Do it|be brief|s3cret/);
    expect(readValue("--append-system-prompt-file", given)).toBe(files.systemPrompt);
    expect(readValue("--mcp-config", given)).toBe(files.mcpConfig);
  });

  test("tie every value to its flag, so that none is taken for another", () => {
    const hostile = "--dangerously-skip-permissions";
    const given = argumentsOf({ model: hostile, resumeToken: hostile, systemPrompt: hostile });
    expect(given).not.toContain(hostile);
    expect(given).toContain(`--model=${hostile}`);
  });

  test("name a server's tools as Claude Code does, whatever its name holds", () => {
    const mcpServers = ["x,Bash(*) y", "GitHub (prod)", "GitHub.prod"].map((name) => ({ ...server, name }));
    const given = argumentsOf({ approvals: "deny", mcpServers });
    expect(readValue("--allowedTools", given)).toBe("mcp__x_Bash_y,mcp__GitHub_prod,mcp__GitHub_prod_2");
    expect(Object.keys(JSON.parse(mcpConfig(mcpServers)).mcpServers)).toEqual(["x_Bash_y", "GitHub_prod", "GitHub_prod_2"]);
  });
});

describe("the native schema", () => {
  const of = (schema: Record<string, unknown>) => nativeSchema({ outputStrategy: { type: "structured", schema } });

  test("is the one of the dispatch", () => expect(of({ type: "object" })).toBe('{"type":"object"}'));
  test("is left to Bridge where Claude Code knows no such draft", () =>
    expect(of({ $schema: "https://json-schema.org/draft/2020-12/schema", type: "object" })).toBeNull());
  test.each([{ type: "array" }, { properties: {} }, { type: "object", anyOf: [{ required: ["a"] }, { required: ["b"] }] }])(
    "is left to Bridge where the vendor takes no tool of it: %j",
    (schema) => expect(of(schema)).toBeNull(),
  );
  test("is left to Bridge where it fits into no argument", () => expect(of({ type: "object", title: "界".repeat(50_000) })).toBeNull());
  test("is absent where no object is asked for", () => expect(nativeSchema({ outputStrategy: { type: "stream" } })).toBeNull());
});

test("the file of MCP servers keeps every `$` that Claude Code would take for a variable", () => {
  const dollar = "$";
  const servers: McpServerSpec[] = [
    { ...server, args: [`${dollar}{HOME}`, `${dollar}HOME`] },
    { name: "far", transport: "http", url: "https://far.example/", headers: { Authorization: `Bearer ${dollar}{KEY:-x}` } },
  ];
  expect(JSON.parse(mcpConfig(servers))).toEqual({
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

describe("the environment", () => {
  const environment = (home: "agent" | "user", env: Record<string, string>) => {
    const silent = () => {};
    const context: ProgramContext = {
      settings: programSettingsSchema.parse({ home, env: ["MINE"] }),
      env,
      dataDir: "/data",
      logger: { debug: silent, info: silent, warn: silent, error: silent },
      sandbox: null,
      onOrphansKilled: silent,
      requestApproval: async () => ({ decision: "reject", reason: null }),
    };
    return claudeEnvironment(context);
  };

  test("holds the credentials and what the operator names, and nothing else of Bridge's", () => {
    const given = environment("agent", { ANTHROPIC_API_KEY: "k", MINE: "m", BRIDGE_TOKENS: "secret", CLAUDE_CONFIG_DIR: "/mine" });
    expect(given).toMatchObject({ ANTHROPIC_API_KEY: "k", MINE: "m" });
    expect(Object.keys(given)).not.toContain("BRIDGE_TOKENS");
    expect(Object.keys(given)).not.toContain("CLAUDE_CONFIG_DIR");
  });

  test("holds what opens a cloud only where that cloud is asked", () => {
    const clouds = { AWS_SECRET_ACCESS_KEY: "s", GOOGLE_APPLICATION_CREDENTIALS: "/g.json" };
    const opened = (choice: Record<string, string>) =>
      Object.keys(clouds).filter((name) => name in environment("agent", { ...clouds, ...choice }));
    expect(opened({})).toEqual([]);
    expect(opened({ CLAUDE_CODE_USE_BEDROCK: "1" })).toEqual(["AWS_SECRET_ACCESS_KEY"]);
    expect(opened({ CLAUDE_CODE_USE_VERTEX: "1" })).toEqual(["GOOGLE_APPLICATION_CREDENTIALS"]);
  });

  test("expands no `@path`, hides no tool, runs nothing in the background (trap 19)", () => {
    expect(environment("agent", {})).toMatchObject({
      CLAUDE_CODE_DISABLE_ATTACHMENTS: "1",
      CLAUDE_CODE_DISABLE_BACKGROUND_TASKS: "1",
      ENABLE_TOOL_SEARCH: "false",
    });
  });

  test("retries few times, unless the operator says how often (trap 5)", () => {
    expect(environment("agent", {})["CLAUDE_CODE_MAX_RETRIES"]).toBe("4");
    expect(environment("agent", { CLAUDE_CODE_MAX_RETRIES: "9" })["CLAUDE_CODE_MAX_RETRIES"]).toBe("9");
  });

  test("leads to the operator's own configuration only in the operator's own home", () =>
    expect(environment("user", { CLAUDE_CONFIG_DIR: "/mine" })["CLAUDE_CONFIG_DIR"]).toBe("/mine"));
});
