import { readFileSync } from "node:fs";
import { isIP } from "node:net";
import path from "node:path";
import { z } from "zod";
import { ConfigError } from "../errors.ts";
import type { TenantQuota } from "../task.ts";
import { settings } from "./settings.ts";

/** Settings whose value may come from a file named by `<NAME>_FILE` instead. */
export const secretSettings = [
  "BRIDGE_GATEWAY_TOKEN_HASH",
  "BRIDGE_CALLBACK_SECRETS",
  "BRIDGE_OPENCLAW_TOKEN",
  "BRIDGE_VERCEL_AI_API_KEY",
] as const;

/** A name that differs from a setting's in more than this is not likely to be meant for it. */
const MAX_TYPOS = 3;

const schema = z.object(settings);

/** Bridge's configuration, complete and valid; paths are absolute. */
export interface Config {
  host: string;
  port: number;
  dataDir: string;
  databaseFile: string;
  workspacesDir: string;
  adapters: readonly string[];
  maxConcurrent: (provider: string) => number;
  queueLimit: number;
  /** The quota of tenants for which the tokens file sets none. */
  quota: TenantQuota;
  bodyLimitBytes: number;
  defaultProfile: "inspect" | "modify";
  tokenHashes: readonly string[];
  tokensFile: string | null;
  /** Files with secrets that the environment has named. */
  secretFiles: readonly string[];
  rateLimitPerMinute: number | null;
  corsOrigins: readonly string[];
  callbacks: { retries: number; backoffMs: number; secrets: readonly string[]; allow: readonly string[] };
  retentionDays: number;
  drainSeconds: number;
  idleSeconds: number;
  approvalSeconds: number;
  sandbox: "off" | "auto" | "required";
  /** Agents that only the operator knows, by the name of their adapter. */
  acpAgents: z.infer<typeof settings.BRIDGE_ACP_AGENTS>;
  mcpCommands: readonly string[];
  metricsPublic: boolean;
  logLevel: string;
  /** Settings of single adapters, by provider. */
  adapterSettings: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}

type Environment = Readonly<Record<string, string | undefined>>;

/** Reads the configuration from an environment; reports every fault at once, and unknown `BRIDGE_*` names as warnings. */
export function loadConfig(environment: Environment): { config: Config; warnings: string[] } {
  const faults: string[] = [];
  const present = Object.fromEntries(Object.entries(environment).filter(([, value]) => value !== undefined && value !== ""));
  const env = { ...present, ...readSecretFiles(present, faults) };
  const parsed = schema.safeParse(env);
  if (!parsed.success) faults.push(...parsed.error.issues.map((issue) => `${issue.path[0]?.toString()}: ${issue.message}`));

  const aliased = env["GATEWAY_PROVIDER"];
  const adapters =
    aliased === undefined
      ? (env["BRIDGE_ADAPTERS"] ?? "command")
          .split(",")
          .map((name) => name.trim())
          .filter(Boolean)
      : [aliased.trim()];
  if (aliased !== undefined && env["BRIDGE_ADAPTERS"] !== undefined && env["BRIDGE_ADAPTERS"].trim() !== aliased.trim()) {
    faults.push("GATEWAY_PROVIDER: differs from BRIDGE_ADAPTERS; set one of them");
  }
  if (adapters.length === 0) faults.push("BRIDGE_ADAPTERS: must name at least one adapter");
  const joined = adapters.find((name) => /^[a-z:-]+(\s+[a-z:-]+)+$/.test(name));
  if (joined !== undefined) faults.push(`BRIDGE_ADAPTERS: separate adapters by commas: ${joined.split(/\s+/).join(",")}`);
  for (const name of new Set(adapters.filter((adapter, index) => adapters.indexOf(adapter) !== index))) {
    faults.push(`BRIDGE_ADAPTERS: names ${name} twice`);
  }
  if (parsed.success) faults.push(...adapters.flatMap((name) => findAcpFault(name, parsed.data.BRIDGE_ACP_AGENTS)));
  const hasTokens = /[^,\s]/.test(env["BRIDGE_GATEWAY_TOKEN_HASH"] ?? "") || env["BRIDGE_TOKENS_FILE"] !== undefined;
  const hasHostFault = faults.some((fault) => fault.startsWith("BRIDGE_HOST:"));
  if (!hasTokens && !hasHostFault && !isLoopback(env["BRIDGE_HOST"] ?? "localhost")) {
    faults.push("BRIDGE_HOST: any other than a loopback address needs a token; set BRIDGE_GATEWAY_TOKEN_HASH or BRIDGE_TOKENS_FILE");
  }
  if (!parsed.success || faults.length > 0) throw new ConfigError(faults);

  const values = parsed.data;
  const dataDir = path.resolve(values.BRIDGE_DATA_DIR);
  const config: Config = {
    host: values.BRIDGE_HOST,
    port: values.BRIDGE_PORT,
    dataDir,
    databaseFile: path.resolve(values.BRIDGE_DATABASE_URL?.slice("sqlite:".length) ?? path.join(dataDir, "bridge.db")),
    workspacesDir: path.resolve(values.BRIDGE_WORKSPACES_DIR ?? path.join(dataDir, "workspaces")),
    adapters,
    maxConcurrent: (provider) => values.BRIDGE_MAX_CONCURRENT.limits.get(provider) ?? values.BRIDGE_MAX_CONCURRENT.fallback,
    queueLimit: values.BRIDGE_QUEUE_LIMIT,
    quota: {
      weight: 1,
      queueLimit: values.BRIDGE_TENANT_QUEUE_LIMIT,
      maxRunning: values.BRIDGE_TENANT_MAX_RUNNING,
      agentQueueLimit: values.BRIDGE_AGENT_QUEUE_LIMIT,
      agentMaxRunning: values.BRIDGE_AGENT_MAX_RUNNING,
    },
    bodyLimitBytes: values.BRIDGE_BODY_LIMIT,
    defaultProfile: values.BRIDGE_DEFAULT_PROFILE,
    tokenHashes: values.BRIDGE_GATEWAY_TOKEN_HASH ?? [],
    tokensFile: values.BRIDGE_TOKENS_FILE === undefined ? null : path.resolve(values.BRIDGE_TOKENS_FILE),
    secretFiles: secretSettings.flatMap((name) => present[`${name}_FILE`] ?? []).map((file) => path.resolve(file)),
    rateLimitPerMinute: values.BRIDGE_RATE_LIMIT === "off" ? null : values.BRIDGE_RATE_LIMIT,
    corsOrigins: values.BRIDGE_CORS_ORIGINS,
    callbacks: {
      retries: values.BRIDGE_CALLBACK_RETRIES,
      backoffMs: values.BRIDGE_CALLBACK_BACKOFF_MS,
      secrets: values.BRIDGE_CALLBACK_SECRETS ?? [],
      allow: values.BRIDGE_CALLBACK_ALLOW,
    },
    retentionDays: values.BRIDGE_RETENTION_DAYS,
    drainSeconds: values.BRIDGE_DRAIN_SECONDS,
    idleSeconds: values.BRIDGE_IDLE_SECONDS,
    approvalSeconds: values.BRIDGE_APPROVAL_SECONDS,
    sandbox: values.BRIDGE_SANDBOX,
    acpAgents: values.BRIDGE_ACP_AGENTS,
    mcpCommands: values.BRIDGE_MCP_COMMANDS,
    metricsPublic: values.BRIDGE_METRICS_PUBLIC,
    logLevel: values.BRIDGE_LOG_LEVEL,
    adapterSettings: {
      ...Object.fromEntries(Object.keys(values.BRIDGE_ACP_AGENTS).map((name) => [name, { probeSeconds: values.BRIDGE_PROBE_SECONDS }])),
      ...Object.fromEntries(councils.map((provider) => [provider, { maxRuns: values.BRIDGE_COUNCIL_MAX_RUNS }])),
      command: { argv: values.BRIDGE_COMMAND, env: values.BRIDGE_COMMAND_ENV },
      claude: { ...programSettings(values, "CLAUDE"), ...apiSettings(values, "CLAUDE"), acpCommand: values.BRIDGE_CLAUDE_ACP_COMMAND },
      "claude-agent-sdk": {
        package: values.BRIDGE_CLAUDE_AGENT_SDK_PACKAGE,
        command: values.BRIDGE_CLAUDE_AGENT_SDK_COMMAND,
        home: values.BRIDGE_CLAUDE_AGENT_SDK_HOME,
        probeSeconds: values.BRIDGE_PROBE_SECONDS,
        env: values.BRIDGE_CLAUDE_AGENT_SDK_ENV,
      },
      codex: { ...programSettings(values, "CODEX"), ...apiSettings(values, "CODEX"), acpCommand: values.BRIDGE_CODEX_ACP_COMMAND },
      gemini: { ...programSettings(values, "GEMINI"), ...apiSettings(values, "GEMINI") },
      "gloo-ai": {
        ...modelSettings(values),
        baseUrl: values.BRIDGE_GLOO_AI_BASE_URL,
        tokenUrl: values.BRIDGE_GLOO_AI_TOKEN_URL,
        model: values.BRIDGE_GLOO_AI_MODEL,
        tradition: values.BRIDGE_GLOO_AI_TRADITION,
      },
      openclaw: {
        url: values.BRIDGE_OPENCLAW_URL,
        token: values.BRIDGE_OPENCLAW_TOKEN,
        workspace: values.BRIDGE_OPENCLAW_WORKSPACE,
        stateDir: values.BRIDGE_OPENCLAW_STATE_DIR === undefined ? undefined : path.resolve(values.BRIDGE_OPENCLAW_STATE_DIR),
        command: values.BRIDGE_OPENCLAW_COMMAND,
      },
      opencode: { ...programSettings(values, "OPENCODE"), config: values.BRIDGE_OPENCODE_CONFIG },
      responder: { tools: values.BRIDGE_RESPONDER_TOOLS, model: values.BRIDGE_RESPONDER_MODEL },
      "vercel-ai": {
        ...modelSettings(values),
        protocol: values.BRIDGE_VERCEL_AI_PROTOCOL,
        baseUrl: values.BRIDGE_VERCEL_AI_BASE_URL,
        apiKey: values.BRIDGE_VERCEL_AI_API_KEY,
        model: values.BRIDGE_VERCEL_AI_MODEL,
        structuredOutput: values.BRIDGE_VERCEL_AI_STRUCTURED_OUTPUT,
      },
    },
  };
  return { config, warnings: [...unknownNames(present), ...unusedLimits(values.BRIDGE_MAX_CONCURRENT.limits, adapters)] };
}

/** Limits of adapters that are not loaded. The providers of an adapter from a path or a package are not known yet. */
function unusedLimits(limits: ReadonlyMap<string, number>, adapters: readonly string[]): string[] {
  if (adapters.some((name) => /[./@]/.test(name))) return [];
  const loaded = adapters.map((name) => name.replace(/^acp:/, ""));
  return [...limits.keys()]
    .filter((name) => !loaded.includes(name.replace(/^acp:/, "")))
    .map((name) => `BRIDGE_MAX_CONCURRENT limits ${name}, which is not one of BRIDGE_ADAPTERS (${adapters.join(", ")})`);
}

/** Providers that hold councils. */
const councils = ["bridge-claude", "bridge-codex", "bridge-gemini", "bridge-opencode", "deep-council"];

/** The settings that every agent program has. */
const programSettings = (values: z.infer<typeof schema>, name: "CLAUDE" | "CODEX" | "GEMINI" | "OPENCODE") => ({
  command: values[`BRIDGE_${name}_COMMAND` as const],
  connection: values[`BRIDGE_${name}_CONNECTION` as const],
  home: values[`BRIDGE_${name}_HOME` as const],
  probeSeconds: values.BRIDGE_PROBE_SECONDS,
  env: values[`BRIDGE_${name}_ENV` as const],
});

/** The settings of a connection that does without the program. */
const apiSettings = (values: z.infer<typeof schema>, name: "CLAUDE" | "CODEX" | "GEMINI") => ({
  ...modelSettings(values),
  apiModel: values[`BRIDGE_${name}_API_MODEL` as const],
});

/** The settings that every connection to models has. */
const modelSettings = (values: z.infer<typeof schema>) => ({ prices: values.BRIDGE_MODEL_PRICES, maxSteps: values.BRIDGE_MODEL_MAX_STEPS });

/** `acp:<name>` stands for an agent that the operator has described. */
function findAcpFault(adapter: string, agents: Config["acpAgents"]): string[] {
  const [, name] = /^acp:(.*)$/s.exec(adapter) ?? [];
  if (name === undefined || Object.hasOwn(agents, name)) return [];
  const example = JSON.stringify({ [name || "goose"]: [name || "goose", "acp"] });
  return [`BRIDGE_ADAPTERS: nobody has said what starts ${adapter}; set BRIDGE_ACP_AGENTS, for example ${example}`];
}

/** Is it a loopback address or name? Only there may Bridge make its own token. */
const isLoopback = (host: string): boolean =>
  host === "localhost" || host === "::1" || host === "[::1]" || (isIP(host) === 4 && host.startsWith("127."));

function readSecretFiles(env: Record<string, string | undefined>, faults: string[]): Record<string, string> {
  const found: Record<string, string> = {};
  for (const name of secretSettings) {
    const file = env[`${name}_FILE`];
    if (file === undefined) continue;
    if (env[name] !== undefined) faults.push(`${name}_FILE: ${name} is set too; set one of them`);
    try {
      found[name] = readFileSync(file, "utf8")
        .trim()
        .replaceAll(/\s*\n\s*/g, ",");
    } catch {
      faults.push(`${name}_FILE: the file cannot be read`);
    }
  }
  return found;
}

function unknownNames(env: Record<string, string | undefined>): string[] {
  const known = [...Object.keys(settings), ...secretSettings.map((name) => `${name}_FILE`)];
  return Object.keys(env)
    .filter((name) => name.startsWith("BRIDGE_") && !known.includes(name))
    .map((name) => {
      const nearest = known.toSorted((left, right) => distance(name, left) - distance(name, right))[0] ?? "";
      const question = distance(name, nearest) <= MAX_TYPOS ? `; is ${nearest} meant?` : "";
      return `${name} is not a setting of Bridge and is ignored${question}`;
    });
}

/** How many characters are to be put in, taken out or replaced to make one name of the other. */
function distance(left: string, right: string): number {
  let row = Array.from({ length: right.length + 1 }, (_, index) => index);
  for (const [place, character] of [...left].entries()) {
    const above = row;
    row = [place + 1];
    for (let index = 1; index <= right.length; index += 1) {
      const replaced = (above[index - 1] ?? 0) + (right[index - 1] === character ? 0 : 1);
      row.push(Math.min(replaced, (above[index] ?? 0) + 1, (row[index - 1] ?? 0) + 1));
    }
  }
  return row.at(-1) ?? 0;
}
