import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { ExecutionRequest, McpServerSpec } from "#contract";
import { createCodexArguments } from "../../../adapters/codex/arguments.ts";
import { createCodexEnvironment } from "../../../adapters/codex/configuration.ts";
import { configureMcpServers, explainUnsupportedServer } from "../../../adapters/codex/mcp-servers.ts";
import { isStrictSchema } from "../../../adapters/codex/strict-schema.ts";
import { toToml } from "../../../adapters/codex/toml.ts";
import type { ProgramContext } from "../../../adapters/shared/agent-program/agent-program.ts";
import { markToolServer } from "../../../adapters/shared/declared-tools/tool-server-spec.ts";
import { createExecutionRequest } from "../../conformance/execution-request.ts";
import { programContext } from "../shared/agent-program/scripted-program.ts";

const contextOf = (env: Record<string, string>, home: "agent" | "user" = "agent"): ProgramContext =>
  programContext("/data", { settings: { home, env: [] }, env });
const requestOf = (changes: Partial<ExecutionRequest> = {}): ExecutionRequest =>
  createExecutionRequest("/agents/one", { message: "--message", ...changes });
const withKey = contextOf({ OPENAI_API_KEY: "sk-secret", PATH: "/bin", AWS_SECRET_ACCESS_KEY: "other" });
/** Reads the configuration of a command line, by key. */
const configured = (argv: readonly string[]) =>
  Object.fromEntries(argv.flatMap((argument, index) => (argv[index - 1] === "--config" ? [argument.split(/=(.*)/s).slice(0, 2)] : [])));

describe("the arguments of codex exec", () => {
  test.each([
    ["inspect", "allow", "read-only"],
    ["inspect", "deny", "read-only"],
    ["modify", "allow", "workspace-write"],
    ["modify", "deny", "workspace-write"],
  ] as const)(
    "the arguments of codex exec select for profile %s with approvals %s the sandbox %s without approval prompts",
    (profile, approvals, sandbox) => {
      const argv = createCodexArguments(requestOf({ profile, approvals }), withKey, null);
      expect(argv[argv.indexOf("--sandbox") + 1]).toBe(sandbox);
      expect(configured(argv)).toMatchObject({ approval_policy: '"never"', approvals_reviewer: '"user"' });
      expect(argv).toEqual(expect.arrayContaining(["--ignore-user-config", "--ignore-rules"]));
    },
  );

  test("the arguments of codex exec read the prompt from stdin and put the resumed session after the flags", () => {
    expect(createCodexArguments(requestOf(), withKey, null).at(-1)).toBe("-");
    expect(createCodexArguments(requestOf({ resumeToken: "an-id" }), withKey, "/f").slice(-3)).toEqual(["resume", "an-id", "-"]);
    expect(createCodexArguments(requestOf({ systemPrompt: "be-brief" }), withKey, null).join()).not.toMatch(/be-brief|--message/);
  });

  test("the arguments of codex exec allow a task in a subdirectory to write in the whole workspace", () => {
    const directories = { ...requestOf().directories, cwd: "/agents/one/sub" };
    const argv = createCodexArguments(requestOf({ directories }), withKey, null);
    expect(argv[argv.indexOf("--cd") + 1]).toBe("/agents/one/sub");
    expect(argv[argv.indexOf("--add-dir") + 1]).toBe("/agents/one");
    expect(createCodexArguments(requestOf(), withKey, null)).not.toContain("--add-dir");
  });

  test.each(["medium", "high", "xhigh"] as const)(
    "the arguments of codex exec set the reasoning level %s if the task requests it",
    (reasoningLevel) => {
      expect(configured(createCodexArguments(requestOf({ reasoningLevel }), withKey, null))["model_reasoning_effort"]).toBe(
        `"${reasoningLevel}"`,
      );
      expect(configured(createCodexArguments(requestOf(), withKey, null))).not.toHaveProperty("model_reasoning_effort");
    },
  );

  test("the arguments of codex exec configure a provider with a key from the environment and few retries", () => {
    const argv = createCodexArguments(requestOf({ model: 'a"b' }), withKey, null);
    expect(argv.join()).not.toContain("sk-secret");
    const { model, model_provider: provider, model_providers: providers } = configured(argv);
    expect([model, provider]).toEqual(['"a\\"b"', '"bridge"']);
    expect(providers).toContain('"base_url" = "https://api.openai.com/v1"');
    expect(providers).toContain('"env_key" = "OPENAI_API_KEY"');
    expect(providers).toContain('"wire_api" = "responses"');
    expect(providers).toMatch(/"request_max_retries" = 1, "stream_max_retries" = 2/);
  });

  test.each([
    [{ CODEX_API_KEY: "k", OPENAI_API_KEY: "other" }, /"env_key" = "CODEX_API_KEY"/],
    [{ OPENAI_BASE_URL: "http://127.0.0.1:1/v1" }, /^(?!.*env_key).*"base_url" = "http:\/\/127\.0\.0\.1:1\/v1"/],
  ])("the arguments of codex exec configure the provider with %j", (env, providers) => {
    expect(configured(createCodexArguments(requestOf(), contextOf(env), null))["model_providers"]).toMatch(providers);
  });

  test("the arguments of codex exec configure no provider without a key or a base URL", () => {
    expect(configured(createCodexArguments(requestOf(), contextOf({}, "user"), null))).not.toHaveProperty("model_provider");
  });

  test("the environment contains only listed variables, and CODEX_HOME only with the operator's home", () => {
    expect(createCodexEnvironment(withKey)).toEqual({
      PATH: "/bin",
      LANG: "C.UTF-8",
      OPENAI_API_KEY: "sk-secret",
      RUST_LOG: "error,codex_mcp=warn",
    });
    expect(createCodexEnvironment(contextOf({ CODEX_HOME: "/h" }))).not.toHaveProperty("CODEX_HOME");
    expect(createCodexEnvironment(contextOf({ CODEX_HOME: "/h" }, "user"))).toMatchObject({ CODEX_HOME: "/h" });
  });
});

describe("MCP servers", () => {
  const stdio = { name: "my server", transport: "stdio" as const, command: "serve", args: ["-x"] };

  test("MCP servers pass secrets as environment variables that commands do not receive", () => {
    const { config, env } = configureMcpServers({
      profile: "modify",
      mcpServers: [
        { ...stdio, env: { TOKEN: "one" } },
        { name: "far", transport: "http", url: "https://far.example/mcp", headers: { Authorization: "Bearer two" } },
      ],
    });
    expect(env).toEqual({ BRIDGE_MCP_0: "one", BRIDGE_MCP_1: "Bearer two" });
    expect(config).toEqual({
      my_server: {
        default_tools_approval_mode: "approve",
        command: "/bin/sh",
        args: ["-c", 'export TOKEN="$BRIDGE_MCP_0"; unset BRIDGE_MCP_0; exec "$@"', "sh", "serve", "-x"],
        env_vars: ["BRIDGE_TASK_ID", "TMPDIR", "BRIDGE_MCP_0"],
      },
      far: { default_tools_approval_mode: "approve", url: "https://far.example/mcp", env_http_headers: { Authorization: "BRIDGE_MCP_1" } },
    });
  });

  test("MCP servers approve only read-only tools automatically with profile inspect", () => {
    const { config } = configureMcpServers({ profile: "inspect", mcpServers: [stdio] });
    expect(config).toEqual({
      my_server: { default_tools_approval_mode: "auto", command: "serve", args: ["-x"], env_vars: ["BRIDGE_TASK_ID", "TMPDIR"] },
    });
  });

  test.each(["inspect", "modify"] as const)("MCP servers approve declared tools and run them in parallel with profile %s", (profile) => {
    const declared = markToolServer({
      name: "bridge",
      transport: "http",
      url: "http://127.0.0.1:1/mcp",
      headers: { Authorization: "Bearer x" },
    });
    expect(configureMcpServers({ profile, mcpServers: [stdio, declared] }).config).toMatchObject({
      bridge: { default_tools_approval_mode: "approve", supports_parallel_tool_calls: true, url: "http://127.0.0.1:1/mcp" },
      my_server: { default_tools_approval_mode: profile === "inspect" ? "auto" : "approve" },
    });
  });

  test.each<[string, McpServerSpec, unknown]>([
    ["a supported server", stdio, null],
    ["an unsupported transport", { name: "old", transport: "sse", url: "https://old.example" }, expect.stringMatching(/"old".*sse/)],
    ["an invalid variable name", { ...stdio, env: { "a;b": "x" } }, expect.stringMatching(/"my server".*"a;b"/)],
  ])("MCP servers are checked for %s", (_, server, reason) => {
    expect(explainUnsupportedServer({ mcpServers: [server] })).toEqual(reason);
  });
});

describe("isStrictSchema", () => {
  const n = { type: "number" };
  const strict = { type: "object", properties: { n }, required: ["n"], additionalProperties: false };

  test.each([
    [strict, true],
    [{ ...strict, properties: { n: { type: "array", items: strict } } }, true],
    [{ ...strict, properties: { n: { anyOf: [n, { type: "null" }] } } }, true],
    [{ ...strict, $defs: { m: strict } }, true],
    [{ type: "object" }, false],
    [{ ...strict, required: [] }, false],
    [{ ...strict, additionalProperties: true }, false],
    [{ ...strict, properties: { n: { type: "object" } } }, false],
    [{ ...strict, properties: { n: { type: ["object", "null"] } } }, false],
    [{ ...strict, properties: { n: { type: "array", items: {}, prefixItems: [] } } }, false],
    [{ ...strict, allOf: [] }, false],
    [{ type: "array", items: strict }, false],
    [{ anyOf: [strict] }, false],
    [{ ...strict, properties: { n: true } }, false],
  ])("isStrictSchema of %j is %s", (schema, expected) => {
    expect(isStrictSchema(schema)).toBe(expected);
  });
});

describe("TOML", () => {
  test.each([
    [{ a: [1, true, "x"], "b.c": { d: "" } }, '{ "a" = [1, true, "x"], "b.c" = { "d" = "" } }'],
    ['"\\\n\u2028', '"\\"\\\\\\n\u2028"'],
    ["\u007f\ud800", '"\\u007f\ufffd"'],
    [[], "[]"],
  ])("TOML serializes %j", (value, toml) => {
    expect(toToml(value)).toBe(toml);
  });

  test("TOML keeps any string within one quoted line", () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom('"', "\\", "\n", "\r", "\0", "\u007f", "\ud800", "é", "a") }), (text) => {
        expect(toToml(text)).toMatch(/^"(?:[^"\\\p{Cc}]|\\.)*"$/su);
      }),
    );
  });

  test("TOML rejects null", () => {
    expect(() => toToml(null)).toThrow("TOML cannot represent null.");
  });
});
