import { writeFile } from "node:fs/promises";
import { hostname } from "node:os";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { listAllSettings, loadConfig } from "../../src/app/load-config.ts";
import { type Config, readDatabase } from "../../src/config/config.ts";
import { ConfigError } from "../../src/errors.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";

const allSettings = listAllSettings();
const hash = "a".repeat(64);
const secret = `whsec_${Buffer.alloc(32, 7).toString("base64")}`;
const programDefaults = { command: undefined, connection: undefined, home: "agent", env: [], modelProxy: "off" };
const modelDefaults = { maxSteps: 50 };
const load = (environment: Record<string, string>) => loadConfig(environment).config;

function faultsOf(environment: Record<string, string>): readonly string[] {
  try {
    loadConfig(environment);
  } catch (error) {
    if (error instanceof ConfigError) return error.faults;
    throw error;
  }
  throw new Error("nothing was refused");
}

test("an empty environment results in the documented defaults", () => {
  const { config, warnings } = loadConfig({});
  const { maxConcurrent, ...rest } = config;
  expect(maxConcurrent("any")).toBe(4);
  expect(warnings).toEqual([]);
  expect(rest).toEqual({
    host: "127.0.0.1",
    port: 8787,
    dataDir: path.resolve("data"),
    databaseFile: path.resolve("data/bridge.db"),
    databaseUrl: null,
    databaseListenUrl: null,
    migrate: "auto",
    node: { name: hostname(), url: null, tags: [], files: "local", leaseSeconds: 120, graceSeconds: 120 },
    filesDir: path.resolve("data"),
    workspacesDir: path.resolve("data/workspaces"),
    adapters: ["command"],
    queueLimit: 10_000,
    quota: { weight: 1, queueLimit: null, maxRunning: null, agentQueueLimit: null, agentMaxRunning: null },
    bodyLimitBytes: 8 * 1024 * 1024,
    defaultProfile: "inspect",
    tokenHashes: [],
    tokensFile: null,
    secretFiles: [],
    rateLimitPerMinute: null,
    corsOrigins: [],
    callbacks: { retries: 3, backoffMs: 1000, secrets: [], allow: [] },
    webhooksFile: null,
    budgetsFile: null,
    repositoriesFile: null,
    repositoriesMaxGib: null,
    repositoriesFetchSeconds: 10,
    budgetReserveUsd: 1,
    publicUrl: null,
    delivers: true,
    retentionDays: 7,
    drainSeconds: 30,
    idleSeconds: 300,
    approvalSeconds: 300,
    sandbox: "off",
    mcpCommands: [],
    modelPrices: null,
    metricsPublic: false,
    logLevel: "info",
    logFormat: "auto",
    logsRequests: false,
    traces: null,
    adapterSettings: {
      "acp:": { agents: {} },
      "bridge-claude": { maxRuns: 200 },
      "bridge-codex": { maxRuns: 200 },
      "bridge-gemini": { maxRuns: 200 },
      "bridge-opencode": { maxRuns: 200 },
      "deep-council": { maxRuns: 200 },
      command: { argv: undefined, env: [], approvals: false },
      claude: { ...programDefaults, ...modelDefaults, apiModel: "claude-opus-5-5", acpCommand: undefined },
      "claude-agent-sdk": { package: undefined, command: undefined, home: "agent", env: [], modelProxy: "off" },
      codex: { ...programDefaults, ...modelDefaults, apiModel: "gpt-6.1-sol", acpCommand: undefined },
      gemini: { ...programDefaults, ...modelDefaults, apiModel: "gemini-pro-latest" },
      "gloo-ai": {
        ...modelDefaults,
        baseUrl: "https://platform.ai.gloo.com/ai/v2",
        tokenUrl: "https://platform.ai.gloo.com/oauth2/token",
        model: "auto",
        tradition: undefined,
      },
      openclaw: { url: "ws://127.0.0.1:18789", token: undefined, workspace: "bridge", stateDir: undefined, command: undefined },
      opencode: { ...programDefaults, config: undefined },
      responder: { tools: {}, model: undefined },
      "vercel-ai": {
        ...modelDefaults,
        protocol: "openai-compatible",
        baseUrl: undefined,
        apiKey: undefined,
        model: undefined,
        structuredOutput: false,
      },
    },
  });
});

type Row = {
  good: readonly [value: string, read: (config: Config) => unknown, expected: unknown][];
  bad: readonly string[];
  /** Settings without which the good values are rejected. */
  needs?: Record<string, string>;
};

/** What PostgreSQL requires in addition to its URL. */
const shared = { BRIDGE_GATEWAY_TOKEN_HASH: hash, BRIDGE_SANDBOX: "off" };
const withTraces = { OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:4318" };
const onPostgres = { BRIDGE_DATABASE_URL: "postgres://db.test/b", ...shared };

const quotaRow = (field: keyof Config["quota"]): Row => ({
  good: [
    ["3", ({ quota }) => quota[field], 3],
    ["off", ({ quota }) => quota[field], null],
  ],
  bad: ["0", "-1", "1.5", "many"],
});

/** Valid and invalid values of every setting. */
const table: Record<string, Row> = {
  BRIDGE_HOST: {
    good: [
      ["localhost", ({ host }) => host, "localhost"],
      ["127.8.9.10", ({ host }) => host, "127.8.9.10"],
      ["::1", ({ host }) => host, "::1"],
    ],
    bad: ["0.0.0.0", "::", "10.0.0.1", "bridge.example", "http://localhost", "localhost:8787", "a b"],
  },
  BRIDGE_PORT: {
    good: [
      ["0", ({ port }) => port, 0],
      ["65535", ({ port }) => port, 65_535],
      [" 80 ", ({ port }) => port, 80],
    ],
    bad: ["65536", "-1", "80a", "8.5", "0x50"],
  },
  BRIDGE_DATA_DIR: {
    good: [
      [
        "/srv/bridge",
        ({ dataDir, databaseFile, workspacesDir }) => [dataDir, databaseFile, workspacesDir],
        ["/srv/bridge", "/srv/bridge/bridge.db", "/srv/bridge/workspaces"],
      ],
    ],
    bad: [],
  },
  BRIDGE_DATABASE_URL: {
    good: [
      ["sqlite:/var/b.db", ({ databaseFile }) => databaseFile, "/var/b.db"],
      ["sqlite:b.db", ({ databaseFile, databaseUrl }) => [databaseFile, databaseUrl], [path.resolve("b.db"), null]],
      ["postgres://u:p@db.test:5433/b", ({ databaseUrl }) => databaseUrl, "postgres://u:p@db.test:5433/b"],
      ["postgresql://db.test/b", ({ databaseUrl }) => databaseUrl, "postgresql://db.test/b"],
    ],
    bad: ["postgres://a", "postgres://a/", "postgres:///b", "mysql://a/b", "sqlite:", "/var/b.db"],
    needs: shared,
  },
  BRIDGE_DATABASE_LISTEN_URL: {
    good: [["postgres://u:p@db:5432/bridge", ({ databaseListenUrl }) => databaseListenUrl, "postgres://u:p@db:5432/bridge"]],
    bad: ["sqlite:/data/bridge.db", "postgres://db"],
  },
  BRIDGE_MIGRATE: { good: [["off", ({ migrate }) => migrate, "off"]], bad: ["on", "false"], needs: onPostgres },
  BRIDGE_NODE_NAME: {
    good: [["bridge-1.eu", ({ node }) => node.name, "bridge-1.eu"]],
    bad: ["-a", "a b", "a:b", "a".repeat(65)],
  },
  BRIDGE_NODE_URL: {
    good: [["http://bridge-1:8787", ({ node }) => node.url, "http://bridge-1:8787"]],
    bad: ["bridge-1:8787", "ftp://bridge-1"],
  },
  BRIDGE_NODE_TAGS: {
    good: [["gpu, repo:web", ({ node }) => node.tags, ["gpu", "repo:web"]]],
    bad: ["-gpu", "a b", Array.from({ length: 65 }, (_, index) => `t${index}`).join(",")],
  },
  BRIDGE_LEASE_SECONDS: { good: [["3", ({ node }) => node.leaseSeconds, 3]], bad: ["2", "3601", "1m"] },
  BRIDGE_NODE_GRACE_SECONDS: { good: [["0", ({ node }) => node.graceSeconds, 0]], bad: ["-1", "86401"] },
  BRIDGE_FILES: { good: [["shared", ({ node }) => node.files, "shared"]], bad: ["remote"] },
  BRIDGE_FILES_DIR: {
    good: [["/f", ({ filesDir, workspacesDir }) => [filesDir, workspacesDir], ["/f", "/f/workspaces"]]],
    bad: [],
  },
  BRIDGE_DELIVER: { good: [["false", ({ delivers }) => delivers, false]], bad: ["maybe"], needs: onPostgres },
  BRIDGE_WORKSPACES_DIR: { good: [["/w", ({ workspacesDir }) => workspacesDir, "/w"]], bad: [] },
  BRIDGE_ADAPTERS: {
    good: [["codex, command,./my.ts,", ({ adapters }) => adapters, ["codex", "command", "./my.ts"]]],
    bad: [",", "command,command"],
  },
  GATEWAY_PROVIDER: { good: [["codex", ({ adapters }) => adapters, ["codex"]]], bad: [] },
  BRIDGE_MAX_CONCURRENT: {
    good: [
      ["8", ({ maxConcurrent }) => [maxConcurrent("a"), maxConcurrent("b")], [8, 8]],
      ["a=2,b=10000", ({ maxConcurrent }) => [maxConcurrent("a"), maxConcurrent("b"), maxConcurrent("c")], [2, 10_000, 4]],
      ["1, a=2", ({ maxConcurrent }) => [maxConcurrent("a"), maxConcurrent("b")], [2, 1]],
    ],
    bad: ["0", "a=0", "10001", "a", "a=", "=2", "1,2", "a=1,a=2", "1.5"],
  },
  BRIDGE_QUEUE_LIMIT: { good: [["1", ({ queueLimit }) => queueLimit, 1]], bad: ["0", "many"] },
  BRIDGE_TENANT_QUEUE_LIMIT: quotaRow("queueLimit"),
  BRIDGE_TENANT_MAX_RUNNING: quotaRow("maxRunning"),
  BRIDGE_AGENT_QUEUE_LIMIT: quotaRow("agentQueueLimit"),
  BRIDGE_AGENT_MAX_RUNNING: quotaRow("agentMaxRunning"),
  BRIDGE_BODY_LIMIT: {
    good: [
      ["2 MiB", ({ bodyLimitBytes }) => bodyLimitBytes, 2_097_152],
      ["1024", ({ bodyLimitBytes }) => bodyLimitBytes, 1024],
      ["64KiB", ({ bodyLimitBytes }) => bodyLimitBytes, 65_536],
      ["8m", ({ bodyLimitBytes }) => bodyLimitBytes, 8_388_608],
      ["8 MB", ({ bodyLimitBytes }) => bodyLimitBytes, 8_388_608],
    ],
    bad: ["1 TB", "1", "2 GiB", "big", "8mm", "-8m"],
  },
  BRIDGE_DEFAULT_PROFILE: { good: [["modify", ({ defaultProfile }) => defaultProfile, "modify"]], bad: ["admin", "Modify"] },
  BRIDGE_GATEWAY_TOKEN_HASH: {
    good: [[`${hash.toUpperCase()}, ${"b".repeat(64)}`, ({ tokenHashes }) => tokenHashes, [hash, "b".repeat(64)]]],
    bad: ["token", hash.slice(1), `${hash},x`],
  },
  BRIDGE_TOKENS_FILE: { good: [["tokens.json", ({ tokensFile }) => tokensFile, path.resolve("tokens.json")]], bad: [] },
  BRIDGE_RATE_LIMIT: {
    good: [
      ["60", ({ rateLimitPerMinute }) => rateLimitPerMinute, 60],
      ["off", ({ rateLimitPerMinute }) => rateLimitPerMinute, null],
    ],
    bad: ["0", "never"],
  },
  BRIDGE_CORS_ORIGINS: {
    good: [
      ["https://app.example, http://localhost:5173", ({ corsOrigins }) => corsOrigins, ["https://app.example", "http://localhost:5173"]],
      ["*", ({ corsOrigins }) => corsOrigins, ["*"]],
      ["tauri://localhost", ({ corsOrigins }) => corsOrigins, ["tauri://localhost"]],
    ],
    bad: ["app.example", "https://app.example/", "https://app.example/path", "https://*.example", "https://app.example:443", "null"],
  },
  BRIDGE_CALLBACK_RETRIES: {
    good: [
      ["0", ({ callbacks }) => callbacks.retries, 0],
      ["20", ({ callbacks }) => callbacks.retries, 20],
      ["three-days", ({ callbacks }) => callbacks.retries, "three-days"],
    ],
    bad: ["21", "-1", "three days"],
  },
  BRIDGE_CALLBACK_BACKOFF_MS: { good: [["1", ({ callbacks }) => callbacks.backoffMs, 1]], bad: ["0", "1s"] },
  BRIDGE_CALLBACK_SECRETS: {
    good: [[`${secret},${secret}`, ({ callbacks }) => callbacks.secrets, [secret, secret]]],
    bad: ["secret", "whsec_", "whsec_c2hvcnQ=", `whsec_${Buffer.alloc(65).toString("base64")}`],
  },
  BRIDGE_CALLBACK_ALLOW: {
    good: [
      [
        "a.example, *.b.example,10.0.0.0/8,::1,fd00::/8",
        ({ callbacks }) => callbacks.allow,
        ["a.example", "*.b.example", "10.0.0.0/8", "::1", "fd00::/8"],
      ],
    ],
    bad: ["http://a", "10.0.0.0/33", "::/129", "a b", "*", "a.example/8"],
  },
  BRIDGE_WEBHOOKS_FILE: {
    needs: { BRIDGE_PUBLIC_URL: "https://bridge.example" },
    good: [["webhooks.json", ({ webhooksFile }) => webhooksFile, path.resolve("webhooks.json")]],
    bad: [],
  },
  BRIDGE_BUDGETS_FILE: { good: [["budgets.json", ({ budgetsFile }) => budgetsFile, path.resolve("budgets.json")]], bad: [] },
  BRIDGE_BUDGET_RESERVE_USD: {
    good: [["0.25", ({ budgetReserveUsd }) => budgetReserveUsd, 0.25]],
    bad: ["-1", "1000001", "one"],
  },
  BRIDGE_REPOSITORIES_FILE: {
    good: [["repositories.json", ({ repositoriesFile }) => repositoriesFile, path.resolve("repositories.json")]],
    bad: [],
  },
  BRIDGE_REPOSITORIES_MAX_GIB: {
    good: [
      ["off", ({ repositoriesMaxGib }) => repositoriesMaxGib, null],
      ["50", ({ repositoriesMaxGib }) => repositoriesMaxGib, 50],
    ],
    bad: ["0", "1.5", "many"],
  },
  BRIDGE_REPOSITORIES_FETCH_SECONDS: {
    good: [["3", ({ repositoriesFetchSeconds }) => repositoriesFetchSeconds, 3]],
    bad: ["0", "61", "soon"],
  },
  BRIDGE_PUBLIC_URL: {
    good: ["https://bridge.example", "http://127.0.0.1:8787/agents/"].map((url) => [url, ({ publicUrl }) => publicUrl, url]),
    bad: ["bridge.example", "ftp://bridge.example"],
  },
  BRIDGE_MODEL_PRICES: {
    good: [
      ['{"m":{"input":3,"output":15,"cacheRead":0.3}}', ({ modelPrices }) => modelPrices, { m: { input: 3, output: 15, cacheRead: 0.3 } }],
    ],
    bad: ["m=3", "[]", '{"m":3}', '{"m":{"input":3}}', '{"m":{"input":-1,"output":1}}', '{"m":{"input":1,"output":1,"cached":1}}'],
  },
  BRIDGE_RETENTION_DAYS: { good: [["3650", ({ retentionDays }) => retentionDays, 3650]], bad: ["0", "3651"] },
  BRIDGE_DRAIN_SECONDS: { good: [["0", ({ drainSeconds }) => drainSeconds, 0]], bad: ["3601"] },
  BRIDGE_IDLE_SECONDS: { good: [["0", ({ idleSeconds }) => idleSeconds, 0]], bad: ["86401"] },
  BRIDGE_PROBE_SECONDS: {
    good: [
      [
        "60",
        ({ adapterSettings }) => ["claude", "claude-agent-sdk", "opencode"].map((name) => adapterSettings[name]?.["probeSeconds"]),
        [60, 60, 60],
      ],
    ],
    bad: ["0", "601", "1.5"],
  },
  BRIDGE_APPROVAL_SECONDS: { good: [["0", ({ approvalSeconds }) => approvalSeconds, 0]], bad: ["86401"] },
  BRIDGE_MODEL_PROXY: {
    good: [
      [
        "on,gemini=off",
        ({ adapterSettings }) =>
          ["claude", "claude-agent-sdk", "codex", "gemini", "opencode"].map((name) => adapterSettings[name]?.["modelProxy"]),
        Array(5).fill("on,gemini=off"),
      ],
    ],
    bad: ["yes", "on,off", "on,cladue=off", "claude=maybe"],
  },
  BRIDGE_SANDBOX: { good: [["required", ({ sandbox }) => sandbox, "required"]], bad: ["on", "true"] },
  BRIDGE_COMMAND: {
    good: [['["node","a b.js"]', ({ adapterSettings }) => adapterSettings["command"]?.["argv"], ["node", "a b.js"]]],
    bad: ["node a.js", "[]", '[""]', "[1]", "{}"],
  },
  BRIDGE_COMMAND_APPROVALS: {
    good: [["true", ({ adapterSettings }) => adapterSettings["command"]?.["approvals"], true]],
    bad: ["yes"],
  },
  BRIDGE_COMMAND_ENV: names("command"),
  BRIDGE_CLAUDE_COMMAND: anyText("claude", "command"),
  BRIDGE_CLAUDE_ACP_COMMAND: anyText("claude", "acpCommand"),
  BRIDGE_CLAUDE_CONNECTION: oneOf("claude", "connection", ["acp", "cli", "api"], ["http-api", "CLI", "acp,cli"]),
  BRIDGE_CLAUDE_HOME: oneOf("claude", "home", ["agent", "user"], ["root", "Agent", "/root"]),
  BRIDGE_CLAUDE_ENV: names("claude"),
  BRIDGE_CLAUDE_API_MODEL: anyText("claude", "apiModel"),
  BRIDGE_CLAUDE_AGENT_SDK_PACKAGE: anyText("claude-agent-sdk", "package"),
  BRIDGE_CLAUDE_AGENT_SDK_COMMAND: anyText("claude-agent-sdk", "command"),
  BRIDGE_CLAUDE_AGENT_SDK_HOME: oneOf("claude-agent-sdk", "home", ["agent", "user"], ["root", "Agent", "/root"]),
  BRIDGE_CLAUDE_AGENT_SDK_ENV: names("claude-agent-sdk"),
  BRIDGE_CODEX_COMMAND: anyText("codex", "command"),
  BRIDGE_CODEX_ACP_COMMAND: anyText("codex", "acpCommand"),
  BRIDGE_CODEX_CONNECTION: oneOf("codex", "connection", ["acp", "cli", "api"], ["http-api", "CLI", "acp,cli"]),
  BRIDGE_CODEX_HOME: oneOf("codex", "home", ["agent", "user"], ["root", "Agent", "/root"]),
  BRIDGE_CODEX_ENV: names("codex"),
  BRIDGE_CODEX_API_MODEL: anyText("codex", "apiModel"),
  BRIDGE_GEMINI_COMMAND: anyText("gemini", "command"),
  BRIDGE_GEMINI_CONNECTION: oneOf("gemini", "connection", ["acp", "cli", "api"], ["http-api", "CLI", "acp,cli"]),
  BRIDGE_GEMINI_HOME: oneOf("gemini", "home", ["agent", "user"], ["root", "Agent", "/root"]),
  BRIDGE_GEMINI_ENV: names("gemini"),
  BRIDGE_GEMINI_API_MODEL: anyText("gemini", "apiModel"),
  BRIDGE_OPENCLAW_URL: {
    good: [["wss://claw.example:1/x", ofAdapter("openclaw", "url"), "wss://claw.example:1/x"]],
    bad: ["http://127.0.0.1:18789", "127.0.0.1:18789", "ws:"],
  },
  BRIDGE_OPENCLAW_TOKEN: anyText("openclaw", "token"),
  BRIDGE_OPENCLAW_WORKSPACE: oneOf("openclaw", "workspace", ["bridge", "agent"], ["Bridge", "task", "/w"]),
  BRIDGE_OPENCLAW_STATE_DIR: { good: [["/var/lib/claw", ofAdapter("openclaw", "stateDir"), "/var/lib/claw"]], bad: [] },
  BRIDGE_OPENCLAW_COMMAND: {
    good: [['["openclaw","--dev"]', ofAdapter("openclaw", "command"), ["openclaw", "--dev"]]],
    bad: ["openclaw", "[]", '[""]'],
  },
  BRIDGE_OPENCODE_COMMAND: anyText("opencode", "command"),
  BRIDGE_OPENCODE_CONNECTION: oneOf("opencode", "connection", ["http-api", "cli"], ["acp", "api", "CLI", "http-api,cli"]),
  BRIDGE_OPENCODE_HOME: oneOf("opencode", "home", ["agent", "user"], ["root", "Agent", "/root"]),
  BRIDGE_OPENCODE_ENV: names("opencode"),
  BRIDGE_OPENCODE_CONFIG: {
    good: [['{"provider":{"a":{}}}', ofAdapter("opencode", "config"), { provider: { a: {} } }]],
    bad: ["{", "[]", "null", '"text"', "provider=a"],
  },
  BRIDGE_GLOO_AI_BASE_URL: someUrl("gloo-ai", "baseUrl"),
  BRIDGE_GLOO_AI_TOKEN_URL: someUrl("gloo-ai", "tokenUrl"),
  BRIDGE_GLOO_AI_MODEL: anyText("gloo-ai", "model"),
  BRIDGE_GLOO_AI_TRADITION: oneOf("gloo-ai", "tradition", ["catholic", "not_faith_specific"], ["stoic", "Catholic"]),
  BRIDGE_VERCEL_AI_PROTOCOL: oneOf("vercel-ai", "protocol", ["openai-compatible", "anthropic"], ["openai", "google", "Anthropic"]),
  BRIDGE_VERCEL_AI_BASE_URL: someUrl("vercel-ai", "baseUrl"),
  BRIDGE_VERCEL_AI_API_KEY: anyText("vercel-ai", "apiKey"),
  BRIDGE_VERCEL_AI_MODEL: anyText("vercel-ai", "model"),
  BRIDGE_VERCEL_AI_STRUCTURED_OUTPUT: { good: [["true", ofAdapter("vercel-ai", "structuredOutput"), true]], bad: ["yes"] },
  BRIDGE_VERCEL_AI_TOOL_IMAGES: { good: [["true", ofAdapter("vercel-ai", "toolImages"), true]], bad: ["yes"] },
  BRIDGE_MODEL_MAX_STEPS: { good: [["1", ofAdapter("vercel-ai", "maxSteps"), 1]], bad: ["0", "10001", "many"] },
  BRIDGE_ACP_AGENTS: {
    good: [
      [
        '{"goose":["goose","acp"]}',
        ofAdapter("acp:", "agents"),
        { goose: { command: ["goose", "acp"], env: [], home: "agent", modes: {} } },
      ],
      [
        '{"my-agent":{"command":["a"],"env":["KEY"],"home":"user","modes":{"inspect":"plan"},"authMethod":"key"}}',
        ofAdapter("acp:", "agents"),
        { "my-agent": { command: ["a"], env: ["KEY"], home: "user", modes: { inspect: "plan" }, authMethod: "key" } },
      ],
    ],
    bad: [
      ...["goose acp", "[]", '{"goose":"goose"}', '{"goose":[]}', '{"goose":[""]}', '{"goose":{}}', '{"Goose":["a"]}', '{"a.b":["a"]}'],
      ...['{"a":{"command":["a"],"mode":{}}}', '{"a":{"command":["a"],"modes":{"read":"x"}}}', '{"a":{"command":["a"],"home":"/root"}}'],
    ],
  },
  BRIDGE_COUNCIL_MAX_RUNS: {
    good: [
      ["9", ({ adapterSettings }) => [adapterSettings["deep-council"], adapterSettings["bridge-codex"]], [{ maxRuns: 9 }, { maxRuns: 9 }]],
    ],
    bad: ["0", "many"],
  },
  BRIDGE_RESPONDER_TOOLS: {
    good: [
      [
        '{"lint":["lint","-x"]}',
        ({ adapterSettings }) => adapterSettings["responder"],
        { tools: { lint: ["lint", "-x"] }, model: undefined },
      ],
    ],
    bad: ["lint", '{"lint":"x"}', '{"../x":["y"]}', '{"lint":[]}'],
  },
  BRIDGE_RESPONDER_MODEL: {
    good: [["gpt-6.1-sol", ({ adapterSettings }) => adapterSettings["responder"], { tools: {}, model: "gpt-6.1-sol" }]],
    bad: [],
  },
  BRIDGE_MCP_COMMANDS: { good: [["npx,/opt/mcp", ({ mcpCommands }) => mcpCommands, ["npx", "/opt/mcp"]]], bad: [] },
  BRIDGE_METRICS_PUBLIC: {
    good: [
      ["true", ({ metricsPublic }) => metricsPublic, true],
      ["1", ({ metricsPublic }) => metricsPublic, true],
      ["0", ({ metricsPublic }) => metricsPublic, false],
    ],
    bad: ["yes", "TRUE"],
  },
  OTEL_EXPORTER_OTLP_ENDPOINT: {
    good: [
      ["http://127.0.0.1:4318", ({ traces }) => traces?.url, "http://127.0.0.1:4318/v1/traces"],
      ["https://collector.example/otlp/", ({ traces }) => traces?.url, "https://collector.example/otlp/v1/traces"],
    ],
    bad: ["collector:4318", "grpc://collector:4317"],
  },
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: {
    good: [["https://collector.example/spans", ({ traces }) => traces?.url, "https://collector.example/spans"]],
    bad: ["collector.example/spans"],
  },
  OTEL_TRACES_SAMPLER: {
    good: [["traceidratio", ({ traces }) => traces?.sampler, { name: "traceidratio", ratio: 1 }]],
    bad: [],
    needs: withTraces,
  },
  OTEL_TRACES_SAMPLER_ARG: { good: [["0.25", ({ traces }) => traces?.sampler.ratio, 0.25]], bad: [], needs: withTraces },
  OTEL_SDK_DISABLED: {
    good: [
      ["true", ({ traces }) => traces, null],
      ["false", ({ traces }) => traces !== null, true],
    ],
    bad: [],
    needs: withTraces,
  },
  BRIDGE_OTEL_CONTENT: {
    good: [["messages", ({ traces }) => traces?.content, { messages: true, tools: false }]],
    bad: ["prompts"],
    needs: withTraces,
  },
  BRIDGE_LOG_LEVEL: {
    good: [
      ["debug", ({ logLevel }) => logLevel, "debug"],
      ["silent", ({ logLevel }) => logLevel, "silent"],
    ],
    bad: ["verbose"],
  },
  BRIDGE_LOG_FORMAT: {
    good: [
      ["json", ({ logFormat }) => logFormat, "json"],
      ["text", ({ logFormat }) => logFormat, "text"],
    ],
    bad: ["verbose"],
  },
  BRIDGE_LOG_REQUESTS: {
    good: [
      ["true", ({ logsRequests }) => logsRequests, true],
      ["0", ({ logsRequests }) => logsRequests, false],
    ],
    bad: ["yes"],
  },
};

function ofAdapter(provider: string, name: string) {
  return ({ adapterSettings }: Config): unknown => adapterSettings[provider]?.[name];
}
function anyText(provider: string, name: string): Row {
  return { good: ["name", "/opt/a b/program"].map((value) => [value, ofAdapter(provider, name), value]), bad: [] };
}
function someUrl(provider: string, name: string): Row {
  return {
    good: ["http://127.0.0.1:11434/v1", "https://models.example"].map((value) => [value, ofAdapter(provider, name), value]),
    bad: ["models.example/v1", "ftp://models.example", "http://"],
  };
}
function oneOf(provider: string, name: string, good: readonly string[], bad: readonly string[]): Row {
  return { good: good.map((value) => [value, ofAdapter(provider, name), value]), bad };
}
function names(provider: string): Row {
  return { good: [["HTTP_PROXY, TZ,", ofAdapter(provider, "env"), ["HTTP_PROXY", "TZ"]]], bad: [] };
}

test("the table names every setting", () => {
  expect(Object.keys(table)).toEqual(Object.keys(allSettings));
});

describe.each(Object.entries(table))("%s", (name, { good, bad, needs }) => {
  test.each(good)("a setting reads %j", (value, read, expected) => {
    expect(read(load({ ...needs, [name]: value }))).toEqual(expected);
  });

  if (bad.length > 0) {
    test.each(bad)("a setting rejects %j with its name", (value) => {
      expect(faultsOf({ [name]: value })).toEqual([expect.stringMatching(new RegExp(`^${name}: \\S`))]);
    });
  }

  test("a setting treats an empty value as unset", () => {
    const { maxConcurrent: _, ...config } = load({ [name]: "" });
    const { maxConcurrent: __, ...defaults } = load({});
    expect(config).toEqual(defaults);
  });
});

test("a fault of a sampler is reported only with traces", () => {
  const faulty = { OTEL_TRACES_SAMPLER: "jaeger_remote", OTEL_EXPORTER_OTLP_PROTOCOL: "grpc" };
  expect(loadConfig(faulty).warnings).toEqual([]);
  expect(faultsOf({ ...withTraces, ...faulty })).toEqual([
    expect.stringMatching(/^OTEL_TRACES_SAMPLER: must be one of always_on/),
    expect.stringMatching(/^OTEL_EXPORTER_OTLP_PROTOCOL: Bridge exports traces over http\/protobuf only/),
  ]);
  expect(faultsOf({ ...withTraces, OTEL_TRACES_SAMPLER: "traceidratio", OTEL_TRACES_SAMPLER_ARG: "2" })).toEqual([
    "OTEL_TRACES_SAMPLER_ARG: must be a number from 0 to 1",
  ]);
});

test("the error for an invalid number or choice contains the value", () => {
  expect(faultsOf({ BRIDGE_QUEUE_LIMIT: "off", BRIDGE_TENANT_MAX_RUNNING: "0", BRIDGE_SANDBOX: "on" })).toEqual([
    'BRIDGE_QUEUE_LIMIT: must be a whole number from 1 to 10000000; got "off"',
    'BRIDGE_TENANT_MAX_RUNNING: must be off or a whole number from 1 to 1000000; got "0"',
    'BRIDGE_SANDBOX: must be off or auto or required; got "on"',
  ]);
});

test.each([
  ["BRIDGE_HOST", "http://localhost", 'must be an IP address or a host name, without a scheme, port or path; got "http://localhost"'],
  ["BRIDGE_ADAPTERS", "command claude", "separate adapters by commas: command,claude"],
  ["BRIDGE_BODY_LIMIT", "8 apples", 'must be a size such as 8 MiB, 8m or 8388608; got "8 apples"'],
  ["BRIDGE_METRICS_PUBLIC", "yes", 'must be true or false; got "yes"'],
  ["BRIDGE_CALLBACK_SECRETS", "whsec_c2hvcnQ=", "must encode 24 to 64 bytes; generate one with: echo whsec_$(openssl rand -base64 32)"],
])("the error for %s=%s contains the fix", (name, value, message) => {
  expect(faultsOf({ [name]: value })).toEqual([`${name}: ${message}`]);
});

test.each([
  [{ BRIDGE_MAX_CONCURRENT: "x:command=2" }, ["BRIDGE_MAX_CONCURRENT limits x:command, which is not one of BRIDGE_ADAPTERS (command)"]],
  [{ BRIDGE_MAX_CONCURRENT: "claude=2" }, ["BRIDGE_MAX_CONCURRENT limits claude, which is not one of BRIDGE_ADAPTERS (command)"]],
  [{ BRIDGE_MAX_CONCURRENT: "command=2" }, []],
  [{ BRIDGE_MAX_CONCURRENT: "own=2", BRIDGE_ADAPTERS: "command,./own-adapter.js" }, []],
  [{ BRIDGE_MAX_CONCURRENT: "goose=2", BRIDGE_ADAPTERS: "acp:goose", BRIDGE_ACP_AGENTS: '{"goose":["goose","acp"]}' }, []],
])("%j reports a limit for an adapter that is not loaded: %j", (environment, expected) => {
  expect(loadConfig(environment).warnings).toEqual(expected);
});

test("all faults are reported at once", () => {
  const environment = {
    BRIDGE_PORT: "x",
    BRIDGE_HOST: "0.0.0.0",
    BRIDGE_LOG_LEVEL: "loud",
    GATEWAY_PROVIDER: "codex",
    BRIDGE_ADAPTERS: "claude",
    BRIDGE_CALLBACK_SECRETS: "x",
  };
  const faults = faultsOf(environment);
  expect(faults.map((fault) => fault.split(":")[0]).toSorted()).toEqual([
    "BRIDGE_CALLBACK_SECRETS",
    "BRIDGE_HOST",
    "BRIDGE_LOG_LEVEL",
    "BRIDGE_PORT",
    "GATEWAY_PROVIDER",
  ]);
  expect(() => loadConfig(environment)).toThrow(/^The configuration is not valid:\n {2}BRIDGE_/);
});

test("adapters that do not exist are reported together with other faults, unless another adapter exists", () => {
  const missing = { BRIDGE_PORT: "many", BRIDGE_ADAPTERS: "./missing.ts,comand" };
  expect(faultsOf(missing)).toEqual([
    expect.stringMatching(/^BRIDGE_PORT: /),
    "BRIDGE_ADAPTERS: The adapter ./missing.ts cannot be loaded: the file does not exist",
    expect.stringMatching(
      /^BRIDGE_ADAPTERS: The adapter comand cannot be loaded: it is neither in the catalog \(command, .* nor an installed/,
    ),
  ]);
  expect(load({ BRIDGE_ADAPTERS: "./missing.ts,comand,command" }).adapters).toEqual(["./missing.ts", "comand", "command"]);
});

test("a host that is not a loopback address requires a token", () => {
  for (const BRIDGE_HOST of ["0.0.0.0", "::", "192.168.1.5"]) {
    expect(faultsOf({ BRIDGE_HOST })).toEqual([expect.stringMatching(/^BRIDGE_HOST: .*BRIDGE_GATEWAY_TOKEN_HASH or BRIDGE_TOKENS_FILE/)]);
    expect(faultsOf({ BRIDGE_HOST, BRIDGE_GATEWAY_TOKEN_HASH: " , " })).toHaveLength(1);
    expect(load({ BRIDGE_HOST, BRIDGE_GATEWAY_TOKEN_HASH: hash }).host).toBe(BRIDGE_HOST);
    expect(load({ BRIDGE_HOST, BRIDGE_TOKENS_FILE: "tokens.json" }).host).toBe(BRIDGE_HOST);
  }
});

describe("PostgreSQL", () => {
  test("PostgreSQL requires a token, because no node generates one for all of them", () => {
    const { BRIDGE_GATEWAY_TOKEN_HASH: _, ...withoutToken } = onPostgres;
    expect(faultsOf(withoutToken)).toEqual([
      expect.stringMatching(
        /^BRIDGE_GATEWAY_TOKEN_HASH: PostgreSQL requires a token.*BRIDGE_TOKENS_FILE.*openssl rand -hex 32.*sha256sum$/,
      ),
    ]);
    expect(load({ ...withoutToken, BRIDGE_TOKENS_FILE: "tokens.json" }).tokensFile).toBe(path.resolve("tokens.json"));
  });

  test.each([
    ["command", true],
    ["vercel-ai,claude", true],
    ["acp:goose", true],
    ["./own-adapter.ts", true],
    ["vercel-ai,gloo-ai,responder", false],
  ])("PostgreSQL requires a decision on the sandbox with the adapters %s: %s", (adapters, isRequired) => {
    const { BRIDGE_SANDBOX: _, ...undecided } = {
      ...onPostgres,
      BRIDGE_ADAPTERS: adapters,
      BRIDGE_ACP_AGENTS: '{"goose":["goose","acp"]}',
    };
    const existing = adapters.startsWith("./") ? { ...undecided, BRIDGE_ADAPTERS: `${adapters},vercel-ai` } : undecided;
    if (isRequired) expect(faultsOf(existing)).toEqual([expect.stringMatching(/^BRIDGE_SANDBOX: .*set required, auto or off$/)]);
    else expect(load(existing).sandbox).toBe("off");
    for (const BRIDGE_SANDBOX of ["required", "auto", "off"]) expect(load({ ...existing, BRIDGE_SANDBOX }).sandbox).toBe(BRIDGE_SANDBOX);
  });

  test("PostgreSQL requires the directory of shared files, in which the workspaces are", () => {
    const onShared = { ...onPostgres, BRIDGE_FILES: "shared" };
    expect(faultsOf(onShared)).toEqual([expect.stringMatching(/^BRIDGE_FILES_DIR: must be set with BRIDGE_FILES=shared/)]);
    expect(faultsOf({ ...onShared, BRIDGE_FILES_DIR: "/f", BRIDGE_WORKSPACES_DIR: "/w" })).toEqual([
      expect.stringMatching(/^BRIDGE_WORKSPACES_DIR: cannot be set with BRIDGE_FILES=shared/),
    ]);
    expect(load({ ...onShared, BRIDGE_FILES_DIR: "/f" }).workspacesDir).toBe("/f/workspaces");
  });
});

test("callbacks that no node would post are rejected with SQLite", () => {
  expect(faultsOf({ BRIDGE_DELIVER: "false" })).toEqual([expect.stringMatching(/^BRIDGE_DELIVER: false needs PostgreSQL/)]);
});

test("a schema that no command would upgrade is rejected with SQLite", () => {
  expect(faultsOf({ BRIDGE_MIGRATE: "off" })).toEqual([expect.stringMatching(/^BRIDGE_MIGRATE: off needs PostgreSQL/)]);
});

test("commands on the database read its URL only, also from a file", async () => {
  const file = path.join(await temporaryDirectory(), "url");
  await writeFile(file, "postgres://u:p@db.test/b\n");
  expect(readDatabase({ BRIDGE_DATABASE_URL_FILE: file, BRIDGE_PORT: "none" }).databaseUrl).toBe("postgres://u:p@db.test/b");
  expect(readDatabase({ BRIDGE_DATA_DIR: "/srv/b" })).toEqual({ databaseUrl: null, databaseFile: "/srv/b/bridge.db" });
  expect(() => readDatabase({ BRIDGE_DATABASE_URL: "mysql://db" })).toThrow("BRIDGE_DATABASE_URL: must begin with sqlite:");
});

describe("GATEWAY_PROVIDER", () => {
  test("GATEWAY_PROVIDER is accepted if it equals BRIDGE_ADAPTERS and rejected if it differs", () => {
    expect(load({ GATEWAY_PROVIDER: "codex", BRIDGE_ADAPTERS: "codex" }).adapters).toEqual(["codex"]);
    expect(faultsOf({ GATEWAY_PROVIDER: "codex", BRIDGE_ADAPTERS: "codex,claude" })).toEqual([
      "GATEWAY_PROVIDER: differs from BRIDGE_ADAPTERS; set one of them",
    ]);
  });
});

describe("secrets from files", () => {
  test("secrets from files include the URLs of the database, whose files are hidden from tasks", async () => {
    const directory = await temporaryDirectory();
    const [file, listenFile] = [path.join(directory, "url"), path.join(directory, "listen-url")];
    await writeFile(file, "postgres://u:p@db.test/b\n");
    await writeFile(listenFile, "postgres://u:p@direct.test/b\n");
    const config = load({ ...shared, BRIDGE_DATABASE_URL_FILE: file, BRIDGE_DATABASE_LISTEN_URL_FILE: listenFile });
    expect([config.databaseUrl, config.databaseListenUrl]).toEqual(["postgres://u:p@db.test/b", "postgres://u:p@direct.test/b"]);
    expect(config.secretFiles).toEqual([file, listenFile]);
  });

  test("secrets from files are read from files with one value per line or with commas", async () => {
    const file = path.join(await temporaryDirectory(), "secret");
    await writeFile(file, `${hash}\n${"b".repeat(64)}\n`);
    expect(load({ BRIDGE_GATEWAY_TOKEN_HASH_FILE: file }).tokenHashes).toEqual([hash, "b".repeat(64)]);
    await writeFile(file, `${secret},${secret}\n`);
    expect(load({ BRIDGE_CALLBACK_SECRETS_FILE: file }).callbacks.secrets).toEqual([secret, secret]);
    expect(load({ BRIDGE_HOST: "0.0.0.0", BRIDGE_GATEWAY_TOKEN_HASH: hash, BRIDGE_CALLBACK_SECRETS_FILE: file }).host).toBe("0.0.0.0");
  });

  test("secrets from files are rejected when set twice or missing, and no error contains them", async () => {
    const file = path.join(await temporaryDirectory(), "secret");
    await writeFile(file, "not-a-secret");
    expect(faultsOf({ BRIDGE_CALLBACK_SECRETS_FILE: "/nowhere" })).toEqual(["BRIDGE_CALLBACK_SECRETS_FILE: the file cannot be read"]);
    expect(faultsOf({ BRIDGE_GATEWAY_TOKEN_HASH_FILE: file, BRIDGE_GATEWAY_TOKEN_HASH: hash })[0]).toMatch(
      /^BRIDGE_GATEWAY_TOKEN_HASH_FILE: .*set one of them/,
    );
    expect(faultsOf({ BRIDGE_CALLBACK_SECRETS_FILE: file }).join("")).not.toContain("not-a-secret");
    expect(faultsOf({ BRIDGE_CALLBACK_SECRETS: "whsec_tooshort" }).join("")).not.toContain("tooshort");
  });
});

describe("acp:<name> in BRIDGE_ADAPTERS", () => {
  test("acp:<name> in BRIDGE_ADAPTERS is rejected if BRIDGE_ACP_AGENTS does not describe the agent", () => {
    expect(load({ BRIDGE_ADAPTERS: "acp:goose", BRIDGE_ACP_AGENTS: '{"goose":["goose","acp"]}' }).adapters).toEqual(["acp:goose"]);
    for (const BRIDGE_ACP_AGENTS of ["", '{"other":["other"]}'])
      expect(faultsOf({ BRIDGE_ADAPTERS: "command,acp:goose", BRIDGE_ACP_AGENTS })).toEqual([
        'BRIDGE_ADAPTERS: no command is configured for acp:goose; set BRIDGE_ACP_AGENTS, for example {"goose":["goose","acp"]}',
      ]);
    expect(faultsOf({ GATEWAY_PROVIDER: "acp:" })).toEqual([expect.stringContaining("BRIDGE_ACP_AGENTS")]);
  });

  test("an error of BRIDGE_ACP_AGENTS contains the path of the fault", () => {
    const faultOf = (agents: object) => faultsOf({ BRIDGE_ACP_AGENTS: JSON.stringify(agents) }).join();
    expect(faultOf({ goose: { command: "goose acp" } })).toContain("goose.command: must be an array of strings");
    expect(faultOf({ goose: { command: ["goose"], modes: { inspect: 1 } } })).toContain("goose.modes.inspect");
    expect(faultOf({ goose: { command: ["goose"], environment: [] } })).toContain("environment");
    const valued = faultOf({ goose: { command: ["goose"], env: ["AGENT_KEY=key-4711"] } });
    expect(valued).toContain("goose.env.0: must be the name of a variable");
    expect(valued).not.toContain("4711");
    expect(faultOf({ Goose: ["goose"] })).toMatch(/Goose: the name must start with a-z/);
  });
});

test("an unknown name results in a warning", () => {
  const { warnings } = loadConfig({ BRIDGE_PROT: "80", BRIDGE_CALLBACK_SECRETS_FILE: "", PATH: "/bin", BRIDGEWATER: "x" });
  expect(warnings).toEqual(["BRIDGE_PROT is not a setting of Bridge and is ignored; did you mean BRIDGE_PORT?"]);
});

test.each([
  ["BRIDGE_ADAPTER", "BRIDGE_ADAPTERS"],
  ["BRIDGE_TOKEN_FILE", "BRIDGE_TOKENS_FILE"],
  ["BRIDGE_CALLBACKS_SECRET", "BRIDGE_CALLBACK_SECRETS"],
  ["BRIDGE_LOGLEVEL", "BRIDGE_LOG_LEVEL"],
  ["BRIDGE_TELEMETRY_LEVEL", null],
  ["BRIDGE_", null],
])("the warning about %s suggests a setting with a similar name", (name, meant) => {
  const question = meant === null ? "" : `; did you mean ${meant}?`;
  expect(loadConfig({ [name]: "x" }).warnings).toEqual([`${name} is not a setting of Bridge and is ignored${question}`]);
});
