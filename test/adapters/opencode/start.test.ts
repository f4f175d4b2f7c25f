import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import type { ExecutionRequest, McpServerSpec } from "#contract";
import { buildConfiguration } from "../../../adapters/opencode/configuration.ts";
import type { OpenCodeConnection } from "../../../adapters/opencode/permissions.ts";
import { createOpenCodeEnvironment, prepareStart } from "../../../adapters/opencode/start.ts";
import { findRepository, findWorkspaceCode } from "../../../adapters/opencode/workspace-code.ts";
import { createTaskTimeline } from "../../../adapters/shared/agent-program/task-timeline.ts";
import { markToolServer } from "../../../adapters/shared/declared-tools/tool-server-spec.ts";
import { createExecutionRequest } from "../../conformance/execution-request.ts";
import { temporaryDirectory } from "../../support/temporary-directory.ts";
import { contextOf } from "./fixtures.ts";

const timeline = createTaskTimeline("t", () => {}, { streaming: false });
const withKey = contextOf({}, { ANTHROPIC_API_KEY: "sk-secret", PATH: "/bin", AWS_SECRET_ACCESS_KEY: "other", HOME: "/operator" });

describe("the configuration of a task", () => {
  const permissions = { "*": "deny", read: "allow" } as const;
  const configOf = (
    request: Partial<ExecutionRequest> = {},
    config: Record<string, unknown> = {},
    { instructions, home = "agent" }: { instructions?: string; home?: "agent" | "user" } = {},
  ) => {
    const context = contextOf({ config, home }, { ANTHROPIC_API_KEY: "sk-secret" });
    const given = { permissions, ...(instructions === undefined ? {} : { instructions }) };
    const text = buildConfiguration({ profile: "modify", ...request }, context, given);
    return { text, config: JSON.parse(text) as Record<string, unknown> };
  };

  test("the configuration of a task defines Bridge's agent with the task's permissions as the default agent", () => {
    expect(configOf().config).toMatchObject({
      permission: permissions,
      agent: { bridge: { mode: "primary", permission: permissions } },
      default_agent: "bridge",
      ...{ autoupdate: false, share: "disabled", lsp: false, formatter: false, snapshot: false, mcp: {} },
    });
  });

  test("the configuration of a task enables only configured providers and not OpenCode's own models", () => {
    expect(configOf().config).toMatchObject({ enabled_providers: ["anthropic"] });
    expect(configOf().config).not.toHaveProperty("disabled_providers");
    const inOwnHome = configOf({}, { disabled_providers: ["groq"] }, { home: "user" }).config;
    expect(inOwnHome).toMatchObject({ disabled_providers: ["groq", "opencode"] });
    expect(inOwnHome).not.toHaveProperty("enabled_providers");
  });

  test("the configuration of a task keeps the operator's configuration except for the fields that Bridge sets", () => {
    const operators = {
      ...{
        permission: { "*": "allow" },
        agent: { bridge: { permission: {} }, other: {} },
        mcp: { spy: {} },
        share: "auto",
        autoupdate: true,
      },
      ...{
        default_agent: "build",
        lsp: true,
        snapshot: true,
        small_model: "anthropic/haiku",
        enabled_providers: ["anthropic", "opencode"],
      },
    };
    const { text, config } = configOf({}, operators);
    expect(config).toMatchObject({ snapshot: true, small_model: "anthropic/haiku", permission: permissions, mcp: {}, share: "disabled" });
    expect(config).toMatchObject({ autoupdate: false, default_agent: "bridge", lsp: false, enabled_providers: ["anthropic"] });
    // No field is repeated, so its precedence does not matter.
    expect(text).toBe(JSON.stringify(config));
    expect(Object.keys(config["agent"] as object)).toEqual(["bridge"]);
  });

  test("the configuration of a task adds the instructions file to those of the operator", () => {
    expect(configOf({}, { instructions: ["/house-rules.md"] }, { instructions: "/t/i.md" }).config["instructions"]).toEqual([
      "/house-rules.md",
      "/t/i.md",
    ]);
    expect(configOf({}, { instructions: ["/house-rules.md"] }).config["instructions"]).toEqual(["/house-rules.md"]);
  });

  const servers: McpServerSpec[] = [
    { name: "near", transport: "stdio", command: "/bin/words", args: ["-x"], env: { TOKEN: "{env:ANTHROPIC_API_KEY}" } },
    { name: "far", transport: "http", url: "https://far.example/{file:/etc/passwd}", headers: { Authorization: "Bearer t" } },
  ];

  test("the configuration of a task contains the dispatch's MCP servers, but with profile inspect only that of the declared tools", () => {
    expect(configOf({ mcpServers: servers }).config["mcp"]).toMatchObject({
      near: { type: "local", command: ["/bin/words", "-x"], enabled: true },
      far: { type: "remote", headers: { Authorization: "Bearer t" }, oauth: false, enabled: true },
    });
    expect(configOf({ profile: "inspect", mcpServers: servers }).config["mcp"]).toEqual({});
    const declared = markToolServer({
      name: "bridge",
      transport: "http",
      url: "http://127.0.0.1:1/mcp",
      headers: { Authorization: "Bearer x" },
    });
    expect(configOf({ profile: "inspect", mcpServers: [...servers, declared] }).config["mcp"]).toEqual({
      bridge: { type: "remote", url: "http://127.0.0.1:1/mcp", headers: { Authorization: "Bearer x" }, oauth: false, enabled: true },
    });
  });

  test("the configuration of a task expands placeholders only in the operator's configuration", () => {
    const operators = { provider: { mine: { options: { apiKey: "{env:MY_KEY}" } } } };
    const { text, config } = configOf({ mcpServers: servers }, operators);
    // OpenCode expands placeholders before it parses the JSON.
    expect(text.match(/\{(?:env|file):[^}]*\}/g)).toEqual(["{env:ANTHROPIC_API_KEY}", "{env:MY_KEY}"]);
    expect(config["mcp"]).toMatchObject({ near: { environment: { TOKEN: "{env:ANTHROPIC_API_KEY}" } } });
    expect(config["mcp"]).toMatchObject({ far: { url: "https://far.example/{file:/etc/passwd}" } });
    expect(text).not.toContain("sk-secret");
  });
});

describe("a start", () => {
  const prepare = async (changes: Partial<ExecutionRequest> = {}, context = withKey, connection: OpenCodeConnection = "http-api") => {
    const request = createExecutionRequest(await temporaryDirectory(), changes);
    mkdirSync(request.directories.tmp, { recursive: true });
    const start = await prepareStart({ request, context, timeline }, connection);
    return { request, start, started: "status" in start ? expect.fail(start.error) : start };
  };
  const refusal = async (changes: Partial<ExecutionRequest>, context = withKey) => {
    const request = createExecutionRequest(await temporaryDirectory(), changes);
    return await prepareStart({ request, context, timeline }, "http-api");
  };

  test("a start does not write through links that exist in its TMPDIR", async () => {
    const request = createExecutionRequest(await temporaryDirectory(), { systemPrompt: "Be brief." });
    const outside = await temporaryDirectory();
    const { tmp } = request.directories;
    mkdirSync(tmp, { recursive: true });
    writeFileSync(path.join(outside, "kept"), "kept");
    symlinkSync(outside, path.join(tmp, "config"));
    symlinkSync(path.join(outside, "kept"), path.join(tmp, "instructions.md"));
    await prepareStart({ request, context: withKey, timeline }, "cli");
    expect(readdirSync(outside)).toEqual(["kept"]);
    expect(readFileSync(path.join(outside, "kept"), "utf8")).toBe("kept");
    expect(readFileSync(path.join(tmp, "instructions.md"), "utf8")).toBe("Be brief.");
    expect(existsSync(path.join(tmp, "config/opencode/package-lock.json"))).toBe(true);
  });

  test("a start passes the provider's keys, no other secret, and disables configuration of the workspace and the home", async () => {
    const { started, request } = await prepare();
    const { env } = started;
    const { tmp } = request.directories;
    expect(env).toMatchObject({
      ANTHROPIC_API_KEY: "sk-secret",
      PATH: "/bin",
      XDG_CONFIG_HOME: path.join(tmp, "config"),
      XDG_CACHE_HOME: path.join(tmp, "cache"),
      OPENCODE_TEST_HOME: tmp,
    });
    expect(env).toMatchObject({ OPENCODE_DISABLE_PROJECT_CONFIG: "1", OPENCODE_PURE: "1", OPENCODE_AUTH_CONTENT: "{}" });
    expect(env).toMatchObject({ OPENCODE_DISABLE_AUTOUPDATE: "1", OPENCODE_DISABLE_MODELS_FETCH: "1", OPENCODE_DISABLE_SHARE: "1" });
    for (const name of ["AWS_SECRET_ACCESS_KEY", "HOME", "XDG_DATA_HOME"]) expect(env).not.toHaveProperty(name);
    expect(JSON.parse(env["OPENCODE_CONFIG_CONTENT"] ?? "")).toMatchObject({ permission: started.permissions });
    // Without this OpenCode would install its plugin packages there.
    expect(existsSync(path.join(tmp, "config", "opencode", "node_modules"))).toBe(true);
  });

  test("a start uses the operator's logins and configuration with home: user", () => {
    const env = createOpenCodeEnvironment(contextOf({ home: "user" }), "/tmp-of-task");
    for (const name of ["XDG_CONFIG_HOME", "OPENCODE_TEST_HOME", "OPENCODE_AUTH_CONTENT"]) expect(env).not.toHaveProperty(name);
    expect(env).toMatchObject({ OPENCODE_PURE: "1", OPENCODE_DISABLE_PROJECT_CONFIG: "1" });
  });

  test("a start writes the system prompt to a private file over cli", async () => {
    const systemPrompt = "Be brief. {env:ANTHROPIC_API_KEY}";
    const { started, request } = await prepare({ systemPrompt }, withKey, "cli");
    const file = path.join(request.directories.tmp, "instructions.md");
    expect(JSON.parse(started.env["OPENCODE_CONFIG_CONTENT"] ?? "")).toMatchObject({ instructions: [file] });
    expect(readFileSync(file, "utf8")).toBe(systemPrompt);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect((await prepare({ systemPrompt })).started.env["OPENCODE_CONFIG_CONTENT"]).not.toContain("instructions");
  });

  test("a start chooses the model and whether its price is known", async () => {
    const provider = {
      mine: { models: { dear: { cost: { input: 1, output: 1 } }, free: { cost: { input: 0, output: 0 } }, unknown: {} } },
    };
    const context = contextOf({ config: { provider } }, {});
    const stepOf = (cost: number) => ({
      ...{ id: "1", type: "step-finish" as const, reason: "stop", cost },
      tokens: { input: 1, output: 1, reasoning: 0, cache: { read: 0, write: 0 } },
    });
    const costs = await Promise.all(
      [
        ["dear", 0.5],
        ["free", 0],
        ["unknown", 0],
      ].map(async ([modelID, cost]) => {
        const { started } = await prepare({ model: `mine/${modelID}` }, context);
        expect(started.model).toEqual({ providerID: "mine", modelID });
        started.tally.add(stepOf(cost as number));
        return started.tally.getFacts().costUsd;
      }),
    );
    expect(costs).toEqual([0.5, 0, undefined]);
  });

  test("a start fails without a provider before OpenCode starts", async () => {
    expect(await refusal({}, contextOf({}, {}))).toMatchObject({
      status: "error",
      errorCode: "authentication_required",
      error: expect.stringMatching(/no model provider.*ANTHROPIC_API_KEY.*BRIDGE_OPENCODE_CONFIG.*BRIDGE_OPENCODE_HOME=user/),
    });
  });

  test.each([
    [{ resumeToken: "--help" }, /resume token/],
    [{ resumeToken: "../../config" }, /resume token/],
    [{ model: "groq/llama" }, /"groq\/llama".*anthropic, openai/],
    [{ model: "gpt-5" }, /"gpt-5".*provider\/model/],
  ])("a start fails with %j", async (changes, error) => {
    const context = contextOf({}, { ANTHROPIC_API_KEY: "a", OPENAI_API_KEY: "b" });
    expect(await refusal(changes, context)).toMatchObject({ errorCode: "adapter_error", error: expect.stringMatching(error) });
  });

  test("a start fails if OpenCode would load code from the workspace", async () => {
    const root = await temporaryDirectory();
    const request = createExecutionRequest(root);
    write(root, ".opencode/plugin/spy.ts");
    expect(await prepareStart({ request, context: withKey, timeline }, "http-api")).toMatchObject({
      errorCode: "adapter_error",
      error: expect.stringContaining(path.join(root, ".opencode/plugin/spy.ts")),
    });
  });
});

describe("code in a workspace", () => {
  test.each([
    [".opencode/plugin/x.ts", "", true],
    [".opencode/plugins/x.js", "", true],
    ["opencode.json", '{"plugin":["left-pad"]}', true],
    ["opencode.jsonc", '{"reference":{}}', true],
    [".opencode/opencode.json", '{"\\u0070lugin":["left-pad"]}', true],
    [".opencode/opencode.jsonc", '{"plugin":[]}', true],
    [".opencode/tool/x.ts", "", false],
    [".opencode/plugins/notes.md", "", false],
    ["opencode.json", '{"model":"a/b"}', false],
    ["plugins/x.ts", "", false],
  ])("%s with content %j is found: %s", async (name, content, isFound) => {
    const root = await temporaryDirectory();
    const cwd = path.join(root, "a", "b");
    mkdirSync(cwd, { recursive: true });
    expect(findWorkspaceCode(cwd, undefined)).toBeNull();
    write(root, name, content);
    const found = isFound ? path.join(root, name) : null;
    expect(findWorkspaceCode(root, undefined)).toBe(found);
    // OpenCode also searches parent directories.
    expect(findWorkspaceCode(cwd, undefined)).toBe(found);
  });

  // Opening a pipe without a writer would block all tasks of Bridge.
  test("a file that cannot be read counts as code, without blocking", async () => {
    const cwd = await temporaryDirectory();
    execFileSync("mkfifo", [path.join(cwd, "opencode.json")]);
    expect(findWorkspaceCode(cwd, undefined)).toBe(path.join(cwd, "opencode.json"));
    rmSync(path.join(cwd, "opencode.json"));
    symlinkSync("/dev/zero", path.join(cwd, "opencode.jsonc"));
    expect(findWorkspaceCode(cwd, undefined)).toBe(path.join(cwd, "opencode.jsonc"));
    rmSync(path.join(cwd, "opencode.jsonc"));
    write(cwd, "opencode.json", " ".repeat(1024 ** 2 + 1));
    expect(findWorkspaceCode(cwd, undefined)).toBe(path.join(cwd, "opencode.json"));
  });

  test("files in the operator's home directory are accepted", async () => {
    const home = await temporaryDirectory();
    const cwd = path.join(home, "workspace");
    mkdirSync(cwd);
    write(home, ".opencode/plugin/mine.ts");
    expect(findWorkspaceCode(cwd, home)).toBeNull();
    write(cwd, ".opencode/plugin/spy.ts");
    expect(findWorkspaceCode(cwd, home)).toBe(path.join(cwd, ".opencode/plugin/spy.ts"));
  });

  test("the repository is the directory with the nearest .git", async () => {
    const root = await temporaryDirectory();
    const inner = path.join(root, "inner", "deep");
    mkdirSync(inner, { recursive: true });
    expect(findRepository(inner)).toBeNull();
    execFileSync("git", ["init", "--quiet", root]);
    expect(findRepository(inner)).toBe(root);
    // In a work tree .git is a file.
    writeFileSync(path.join(root, "inner", ".git"), "gitdir: elsewhere");
    expect(findRepository(inner)).toBe(path.join(root, "inner"));
  });
});

function write(directory: string, name: string, content = ""): void {
  const file = path.join(directory, name);
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, content);
}
