import { lookup } from "node:dns";
import { existsSync, lstatSync, mkdirSync, readdirSync, readFileSync, readlinkSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import type { ExecutionRequest, McpServerSpec } from "#contract";
import { acpUsage, explainAcpEnd, geminiAcpProfile, toolInput } from "../../../adapters/gemini/acp.ts";
import { cliArguments } from "../../../adapters/gemini/arguments.ts";
import { findCredentials } from "../../../adapters/gemini/credentials.ts";
import { escapeMentions } from "../../../adapters/gemini/escape-mentions.ts";
import { policyOf } from "../../../adapters/gemini/policy.ts";
import { buildSettingsFile } from "../../../adapters/gemini/settings-file.ts";
import { prepareStart } from "../../../adapters/gemini/start.ts";
import { findLoadedEnvFile, needsTrust } from "../../../adapters/gemini/workspace-trust.ts";
import type { ProgramContext } from "../../../adapters/shared/agent-program/agent-program.ts";
import { programSettingsSchema } from "../../../adapters/shared/agent-program/settings.ts";
import { temporaryDirectory } from "../../support/temporary-directory.ts";

const server: McpServerSpec = { name: "words", transport: "stdio", command: "/bin/words", args: ["--key=$KEY"], env: { PASS: "a$b" } };

function contextOf(settings: object = {}, env: ProgramContext["env"] = { GEMINI_API_KEY: "k" }): ProgramContext {
  const silent = () => {};
  return {
    settings: programSettingsSchema.parse(settings),
    env,
    dataDir: "/data",
    logger: { debug: silent, info: silent, warn: silent, error: silent },
    sandbox: null,
    retentionDays: 7,
    fetch,
    lookup,
    onOrphansKilled: silent,
    requestApproval: async () => ({ decision: "reject", reason: null }),
  };
}

function requestIn(root: string, changes: Partial<ExecutionRequest> = {}): ExecutionRequest {
  return {
    taskId: "t",
    agentId: "a",
    message: "m",
    timeoutSeconds: 60,
    outputStrategy: { type: "stream" },
    profile: "inspect",
    approvals: "deny",
    directories: { workspace: root, cwd: root, home: path.join(root, "home"), tmp: path.join(root, "tmp") },
    ...changes,
  };
}

async function requestWithHome(changes: Partial<ExecutionRequest> = {}): Promise<ExecutionRequest> {
  const request = requestIn(await temporaryDirectory(), changes);
  mkdirSync(request.directories.home);
  return request;
}

describe("the arguments of gemini", () => {
  test.each([
    ["inspect", "allow", "default"],
    ["inspect", "deny", "default"],
    ["modify", "allow", "yolo"],
    ["modify", "deny", "auto_edit"],
    ["modify", "ask", "auto_edit"],
  ] as const)("select for profile %s with approvals %s the mode %s", (profile, approvals, mode) => {
    const given = cliArguments({ profile, approvals }, { policyFile: "/p.toml", trusted: false });
    expect(given).toContain(`--approval-mode=${mode}`);
    expect(given).toContain("--admin-policy=/p.toml");
    expect(given).not.toContain("--skip-trust");
  });

  test("keep values that look like options as values", () => {
    const request = { profile: "inspect", approvals: "deny", model: "--yolo", resumeToken: "--yolo" } as const;
    expect(cliArguments(request, { policyFile: "/p.toml", trusted: true })).toEqual(
      expect.arrayContaining(["--model=--yolo", "--resume=--yolo", "--skip-trust"]),
    );
  });
});

describe("the policy", () => {
  const rules = (profile: "inspect" | "modify", approvals: ExecutionRequest["approvals"]) =>
    policyOf({ profile, approvals }).split("[[rule]]").slice(1);

  // The setting `tools.core` allows the tools that it lists, and the mode `plan` writes files, so only a deny rule enforces inspect.
  test("of inspect denies everything except read-only tools, with any approvals", () => {
    expect(policyOf({ profile: "inspect", approvals: "allow" })).toBe(policyOf({ profile: "inspect", approvals: "deny" }));
    const [denyAll = "", ...allowed] = rules("inspect", "deny");
    expect(denyAll).toMatch(/toolName = \["\*"\]\ndecision = "deny"\npriority = 100/);
    for (const rule of allowed) expect(rule).toMatch(/decision = "allow"\npriority = 200/);
    expect(allowed.join("")).not.toMatch(/write_file|replace|run_shell_command|plan_mode|web_fetch|activate_skill/);
  });

  test("of inspect allows only MCP tools that are annotated as read-only", () => {
    expect(rules("inspect", "deny").at(-1)).toMatch(/mcpName = "\*"\ntoolAnnotations = \{ readOnlyHint = true \}/);
  });

  test("of modify with approvals deny allows edits inside the workspace and no commands", () => {
    const policy = policyOf({ profile: "modify", approvals: "deny" });
    expect(policy).toMatch(/"write_file","replace"/);
    expect(policy).not.toContain("run_shell_command");
    expect(policy.match(/name = "allowed-path"/g)).toHaveLength(2);
  });

  test("of modify with approvals ask asks about every denied call, except for calls of helper agents", () => {
    const denyRule = 'decision = "deny"\npriority = 100';
    const denied = rules("modify", "deny");
    const asked = rules("modify", "ask");
    expect(asked[0]).toBe(denied[0]?.replace('"deny"', '"ask_user"'));
    expect(denied[0]).toContain(denyRule);
    expect(asked.slice(4)).toEqual(denied.slice(1));
    for (const [index, helper] of ["generalist", "codebase_investigator", "cli_help"].entries())
      expect(asked[index + 1]).toBe(`${denied[0]?.replace("priority = 100\n", `priority = 150\nsubagent = "${helper}"\n`)}`);
    expect(policyOf({ profile: "inspect", approvals: "ask" })).toBe(policyOf({ profile: "inspect", approvals: "deny" }));
  });

  test("of modify with approvals allow allows everything", () => {
    expect(rules("modify", "allow")).toEqual([expect.stringMatching(/\["\*"\]\ndecision = "allow"[\s\S]*allowRedirection = true/)]);
  });
});

describe("the configuration", () => {
  test("disables telemetry, updates, hooks and loop detection, and limits retries and turns", () => {
    expect(buildSettingsFile(contextOf(), [])).toMatchObject({
      privacy: { usageStatisticsEnabled: false },
      telemetry: { enabled: false },
      general: { enableAutoUpdate: false, maxAttempts: 3 },
      model: { maxSessionTurns: expect.any(Number), disableLoopDetection: true },
      hooksConfig: { enabled: false },
    });
  });

  test.each([
    [{ GEMINI_API_KEY: "k", GOOGLE_GEMINI_BASE_URL: "http://gateway" }, "gemini-api-key"],
    [{ GOOGLE_GENAI_USE_VERTEXAI: "true" }, "vertex-ai"],
    [{ GOOGLE_GENAI_USE_GCA: "true" }, "oauth-personal"],
  ])("with %j uses the authentication type %s", (env, selectedType) => {
    expect(buildSettingsFile(contextOf({}, env), [])).toMatchObject({ security: { auth: { selectedType } } });
  });

  test("escapes dollar signs of MCP servers, which Gemini would expand", () => {
    const { mcpServers } = buildSettingsFile(contextOf(), [
      server,
      { name: "far", transport: "http", url: "https://h/$KEY", headers: { Authorization: "$KEY" } },
    ]);
    const literal = (text: string) => text.replaceAll("$", () => "$" + "{BRIDGE_UNSET:-$}");
    expect(mcpServers).toEqual({
      words: { command: "/bin/words", args: [literal("--key=$KEY")], env: { PASS: literal("a\\$b") }, trust: true },
      far: { type: "http", url: literal("https://h/$KEY"), headers: { Authorization: literal("$KEY") }, trust: true },
    });
  });
});

describe("a start", () => {
  test("writes a private configuration and keeps the sessions in the agent's home", async () => {
    const request = await requestWithHome({ mcpServers: [server] });
    const { env, policyFile } = await prepareStart({ request, context: contextOf() });
    const home = env["GEMINI_CLI_HOME"] ?? "";
    expect(home.startsWith(request.directories.tmp)).toBe(true);
    for (const file of [policyFile, path.join(home, ".gemini", "settings.json")]) expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(readFileSync(policyFile, "utf8")).toBe(policyOf(request));
    for (const kept of ["tmp", "history"])
      expect(readlinkSync(path.join(home, ".gemini", kept))).toBe(path.join(request.directories.home, ".gemini", kept));
  });

  test("passes the documented variables and disables workspace trust and the relaunch", async () => {
    const request = await requestWithHome();
    const { env } = await prepareStart({ request, context: contextOf({}, { GEMINI_API_KEY: "k", OPENAI_API_KEY: "no", HOME: "/root" }) });
    expect(env).toMatchObject({ GEMINI_API_KEY: "k", GEMINI_CLI_TRUST_WORKSPACE: "false", GEMINI_CLI_NO_RELAUNCH: "true" });
    expect(env).not.toHaveProperty("OPENAI_API_KEY");
    // Gemini exits before its output is read, so writes to stdout block. Its child processes do not inherit this.
    const code = decodeURIComponent(env["NODE_OPTIONS"] ?? "");
    expect(code).toMatch(/setBlocking\?\.\(true\);\s+delete process\.env\.NODE_OPTIONS;/);
    expect(env).not.toHaveProperty("HOME");
  });

  test.each(["link", "nested link", "file"])("does not write through a %s that an earlier task left in the home", async (kind) => {
    const [request, outside] = [await requestWithHome(), await temporaryDirectory()];
    const own = path.join(request.directories.home, ".gemini");
    if (kind === "nested link") mkdirSync(own);
    if (kind === "file") writeFileSync(own, "");
    else symlinkSync(outside, kind === "link" ? own : path.join(own, "tmp"));
    await prepareStart({ request, context: contextOf() });
    expect(readdirSync(outside)).toEqual([]);
    for (const kept of ["", "tmp", "history"]) expect(lstatSync(path.join(own, kept)).isDirectory()).toBe(true);
  });

  test("does not write through links that exist in its TMPDIR", async () => {
    const [request, outside] = [await requestWithHome(), await temporaryDirectory()];
    const own = path.join(request.directories.tmp, "gemini");
    mkdirSync(path.join(own, ".gemini"), { recursive: true });
    for (const name of ["policy.toml", ".gemini/settings.json", ".gemini/tmp"]) {
      writeFileSync(path.join(outside, path.basename(name)), "kept");
      symlinkSync(path.join(outside, path.basename(name)), path.join(own, name));
    }
    await prepareStart({ request, context: contextOf() });
    for (const name of readdirSync(outside)) expect(readFileSync(path.join(outside, name), "utf8")).toBe("kept");
    expect(readFileSync(path.join(own, "policy.toml"), "utf8")).toBe(policyOf(request));
  });

  test("uses the operator's configuration under the task's policy with home: user", async () => {
    const request = requestIn(await temporaryDirectory());
    const { env, policyFile } = await prepareStart({ request, context: contextOf({ home: "user" }) });
    expect(env).not.toHaveProperty("GEMINI_CLI_HOME");
    expect(existsSync(path.join(request.directories.home, ".gemini"))).toBe(false);
    expect(readFileSync(policyFile, "utf8")).toBe(policyOf(request));
  });
});

describe("workspace trust", () => {
  test.each([
    ["inspect", [], "agent", false],
    ["inspect", [server], "agent", true],
    ["modify", [], "agent", true],
    ["inspect", [], "user", true],
  ] as const)("for profile %s with MCP servers %j and home: %s is needed: %s", (profile, mcpServers, home, trusted) => {
    expect(needsTrust({ profile, mcpServers: [...mcpServers] }, contextOf({ home }))).toBe(trusted);
  });

  test("finds a .gemini/.env of the workspace or a parent directory, but accepts that of the operator", async () => {
    const root = await temporaryDirectory();
    const cwd = path.join(root, "a", "b");
    mkdirSync(path.join(cwd), { recursive: true });
    expect(findLoadedEnvFile(cwd, contextOf())).toBeNull();
    mkdirSync(path.join(root, ".gemini"));
    writeFileSync(path.join(root, ".gemini", ".env"), "GOOGLE_GEMINI_BASE_URL=http://elsewhere");
    expect(findLoadedEnvFile(cwd, contextOf())).toBe(path.join(root, ".gemini", ".env"));
    expect(findLoadedEnvFile(cwd, contextOf({}, { HOME: root }))).toBeNull();
  });

  test("finds a plain .env with home: user, unless the operator's settings disable it", async () => {
    const root = await temporaryDirectory();
    const [home, cwd] = [path.join(root, "home"), path.join(root, "work")];
    for (const directory of [cwd, path.join(home, ".gemini")]) mkdirSync(directory, { recursive: true });
    writeFileSync(path.join(cwd, ".env"), "GOOGLE_GEMINI_BASE_URL=http://elsewhere");
    expect(findLoadedEnvFile(cwd, contextOf({}, { HOME: home }))).toBeNull();
    const operators = contextOf({ home: "user" }, { HOME: home });
    expect(findLoadedEnvFile(cwd, operators)).toBe(path.join(cwd, ".env"));
    writeFileSync(path.join(home, ".gemini", "settings.json"), '{ "advanced": { "ignoreLocalEnv": true } }');
    expect(findLoadedEnvFile(cwd, operators)).toBeNull();
  });
});

test("a mention of a workspace file is escaped, and other text is unchanged", async () => {
  const cwd = await temporaryDirectory();
  mkdirSync(path.join(cwd, "src"));
  writeFileSync(path.join(cwd, "my notes.txt"), "n");
  writeFileSync(path.join(cwd, ".env"), "s");
  const escaped = [
    "src",
    "src/a.ts",
    "src,",
    "src.",
    "./src",
    "../x",
    ".env",
    "my\\ notes.txt",
    '"my notes.txt"',
    `${cwd}/src`,
    `/x/../${cwd}/src`,
    // Other spellings of a path that Gemini accepts.
    ...["s\\rc", "other/../src", "/proc/self/cwd/src", "%73rc", "file:///src", '"x\nsrc"', "words:src", '""src', "'src'"],
    // Names of agents, which would make the model delegate the task.
    "generalist",
    "codebase_investigator:",
  ];
  const given = { searches: false };
  for (const mention of escaped) expect(escapeMentions(`See @${mention} and more`, cwd, given)).toBe(`See \\@${mention} and more`);
  for (const text of [
    "me@example.org.",
    "(@Override)",
    "@types/node-gyp",
    "@",
    "a @ b",
    "@, @)",
    "\\@src",
    "@other/file",
    "@été",
    "@/etc/passwd",
    "@/nowhere/at/all",
  ])
    expect(escapeMentions(text, cwd, given)).toBe(text);
  expect(escapeMentions("me@example.org and @ else", cwd, { searches: true })).toBe("me\\@example.org and @ else");
});

test.each<[ok: boolean, detail: RegExp, env: Record<string, string>, home?: string]>([
  [true, /^GEMINI_API_KEY is set$/, { GEMINI_API_KEY: "k" }],
  [false, /^Set GEMINI_API_KEY; or GOOGLE_GENAI_USE_VERTEXAI/, {}],
  [false, /^Set GEMINI_API_KEY/, { GEMINI_API_KEY: "" }],
  [true, /GOOGLE_API_KEY/, { GOOGLE_GENAI_USE_VERTEXAI: "true", GOOGLE_API_KEY: "k" }],
  [true, /application default/, { GOOGLE_GENAI_USE_VERTEXAI: "true", GOOGLE_CLOUD_PROJECT: "p", GOOGLE_CLOUD_LOCATION: "l" }],
  [false, /needs GOOGLE_API_KEY, or else GOOGLE_CLOUD_LOCATION/, { GOOGLE_GENAI_USE_VERTEXAI: "true", GOOGLE_CLOUD_PROJECT: "p" }],
  [false, /BRIDGE_GEMINI_HOME=user/, { GOOGLE_GENAI_USE_GCA: "true" }],
  [false, /BRIDGE_GEMINI_HOME=user to use the login/, { HOME: "login" }],
  [true, /signed in/, { HOME: "login" }, "user"],
])("credentials are found: %s, with %s for %j", async (ok, detail, env, home = "agent") => {
  const operator = await temporaryDirectory();
  mkdirSync(path.join(operator, "login", ".gemini"), { recursive: true });
  writeFileSync(path.join(operator, "login", ".gemini", "oauth_creds.json"), '{"refresh_token":"r"}');
  const found = findCredentials(contextOf({ home }, { ...env, HOME: path.join(operator, env["HOME"] ?? "none") }));
  expect(found).toEqual({ ok, detail: expect.stringMatching(detail) });
});

describe("over acp", () => {
  test.each([
    [{ toolCallId: "run_shell_command__1", title: "ls -l", kind: "execute" }, { command: "ls -l" }],
    [
      { toolCallId: "write_file__1", title: "Writing to a.md", content: [{ type: "diff", path: "/w/a.md", newText: "x" }] },
      { file_path: "/w/a.md" },
    ],
    [{ toolCallId: "read_file__1", title: "a.md" }, undefined],
  ])("the input of %j is %j", (call, input) => {
    expect(toolInput(call)).toEqual(input);
  });

  test("the usage has no thinking tokens, because Gemini does not report them", () => {
    const _meta = { quota: { token_count: { input_tokens: 130, output_tokens: 30 }, model_usage: [] } };
    expect(acpUsage({ _meta })).toEqual({ inputTokens: 130, outputTokens: 30 });
    expect(acpUsage({})).toBeUndefined();
  });

  test("a turn without a complete model call fails, although its stop reason reports success", () => {
    const end = (input_tokens: number, stopReason: "end_turn" | "cancelled" = "end_turn") =>
      explainAcpEnd({ stopReason, _meta: { quota: { token_count: { input_tokens, output_tokens: 0 } } } });
    expect(end(0)).toMatchObject({ errorCode: "model_error", error: expect.stringContaining("no complete answer") });
    expect([end(130), end(0, "cancelled"), explainAcpEnd({ stopReason: "end_turn" })]).toEqual([undefined, undefined, undefined]);
  });

  // Loading a session damages it, and MCP servers need workspace trust, which is not granted.
  test("sessions and MCP servers are not supported", () => {
    expect(geminiAcpProfile.capabilities).toMatchObject({ sessionResume: false, mcpServers: false, approvals: true });
    expect(geminiAcpProfile.unsupportedReason?.(requestIn("/w", { mcpServers: [server] }))).toContain("does not support MCP servers");
    expect(geminiAcpProfile.unsupportedReason?.(requestIn("/w"))).toBeNull();
  });

  test("the tool name is the beginning of the call id", () => {
    expect(geminiAcpProfile.toolName?.({ toolCallId: "run_shell_command__call_1" } as never)).toBe("run_shell_command");
  });
});
