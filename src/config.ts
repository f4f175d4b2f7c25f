import { readFileSync } from "node:fs";
import { isIP } from "node:net";
import path from "node:path";
import { z } from "zod";
import { ConfigError } from "./errors.ts";

const list = z.string().transform((text) =>
  text
    .split(",")
    .map((part) => part.trim())
    .filter((part) => part !== ""),
);
const integer = (min: number, max: number) =>
  z
    .string()
    .trim()
    .regex(/^\d+$/, "must be a whole number")
    .transform(Number)
    .refine((value) => value >= min && value <= max, `must be from ${min} to ${max}`);
const flag = z.enum(["true", "false", "1", "0"], "must be true or false").transform((text) => text === "true" || text === "1");

const units = { B: 1, KiB: 1024, MiB: 1024 ** 2, GiB: 1024 ** 3 } as const;
const bytes = z
  .string()
  .trim()
  .regex(/^\d+ *(B|KiB|MiB|GiB)?$/, "must be a size such as 8 MiB or 8388608")
  .transform((text) => {
    const [, count, unit] = /^(\d+) *(\w*)$/.exec(text) ?? [];
    return Number(count) * units[(unit || "B") as keyof typeof units];
  })
  .refine((size) => size >= 1024 && size <= 1024 ** 3, "must be from 1 KiB to 1 GiB");

const argv = z.string().transform((text, context) => {
  try {
    return z.array(z.string().min(1)).min(1).parse(JSON.parse(text));
  } catch {
    context.addIssue('must be a JSON array of strings, for example ["node","/opt/agent.js"]');
    return z.NEVER;
  }
});

const jsonObject = z.string().transform((text, context) => {
  try {
    return z.record(z.string(), z.unknown()).parse(JSON.parse(text));
  } catch {
    context.addIssue("must be a JSON object");
    return z.NEVER;
  }
});

const perAdapter = z.string().transform((text, context) => {
  const limits = new Map<string, number>();
  let fallback: number | undefined;
  for (const part of text.split(",").map((item) => item.trim())) {
    const [, name, count] = /^(?:(.+)=)?(\d+)$/.exec(part) ?? [];
    const limit = Number(count);
    const repeated = name === undefined ? fallback !== undefined : limits.has(name);
    if (!(limit >= 1 && limit <= 10_000) || repeated) {
      context.addIssue("must be a number from 1 to 10000, or name=number pairs separated by commas, each name once");
      return z.NEVER;
    }
    if (name === undefined) fallback = limit;
    else limits.set(name.trim(), limit);
  }
  return { fallback: fallback ?? 4, limits };
});

const secret = z
  .string()
  .regex(/^whsec_[A-Za-z0-9+/]+={0,2}$/, { error: "must be whsec_ followed by base64", abort: true })
  .refine((text) => {
    const size = Buffer.from(text.slice("whsec_".length), "base64").length;
    return size >= 24 && size <= 64;
  }, "must hold 24 to 64 bytes");

/** The settings of one agent program; `connections` are its adapter's, in their order. */
const program = <Name extends string>(name: Name, title: string, connections: readonly [string, ...string[]]) =>
  ({
    [`BRIDGE_${name}_COMMAND`]: z.string().min(1).optional().describe(`Program of ${title}: a path, or a name on the PATH.`),
    [`BRIDGE_${name}_CONNECTION`]: z
      .enum(connections)
      .optional()
      .describe(`Only this connection to ${title}: ${connections.join(" or ")}. Default: the first that works`),
    [`BRIDGE_${name}_HOME`]: z
      .enum(["agent", "user"])
      .default("agent")
      .describe(`Home of ${title}: agent (one per tenant and agent) or user (your own, with its login).`),
    [`BRIDGE_${name}_ENV`]: list.default([]).describe(`Names of further environment variables that ${title} gets, comma-separated.`),
  }) as ProgramSettings<Name>;
type ProgramSettings<Name extends string> = {
  [Key in `BRIDGE_${Name}_${"COMMAND" | "CONNECTION"}`]: z.ZodOptional<z.ZodType<string, string>>;
} & { [Key in `BRIDGE_${Name}_HOME`]: z.ZodDefault<z.ZodType<"agent" | "user", string>> } & {
  [Key in `BRIDGE_${Name}_ENV`]: z.ZodDefault<typeof list>;
};
const acpCommand = (title: string) =>
  z.string().min(1).optional().describe(`Program of the acp connection to ${title}: a path, or a name on the PATH.`);

/**
 * Every setting, in the order in which `.env.example` and the README show them.
 * `meta.example` is what the generated files show where there is no default.
 */
export const settings = {
  BRIDGE_HOST: z.string().min(1).default("127.0.0.1").describe("Address to listen on. Any other than loopback needs a token."),
  BRIDGE_PORT: integer(0, 65_535)
    .default(8787)
    .describe("Port to listen on; 0 takes any free one. The chosen address is the first log line."),
  BRIDGE_DATA_DIR: z.string().min(1).default("./data").describe("Directory of everything that must survive a restart."),
  BRIDGE_DATABASE_URL: z
    .string()
    .regex(/^sqlite:.+/, "must begin with sqlite: followed by a file name")
    .optional()
    .describe("Database. Default: sqlite:<data dir>/bridge.db"),
  BRIDGE_WORKSPACES_DIR: z
    .string()
    .min(1)
    .optional()
    .describe("Where agents' workspaces lie, as <dir>/<tenant>/<agentId>. Default: <data dir>/workspaces"),
  BRIDGE_ADAPTERS: list
    .optional()
    .describe("Adapters to load, comma-separated: catalogue names, paths or packages that export createAdapter. Default: command"),
  GATEWAY_PROVIDER: z.string().min(1).optional().describe("Alias of BRIDGE_ADAPTERS for a single adapter."),
  BRIDGE_MAX_CONCURRENT: perAdapter
    .default({ fallback: 4, limits: new Map() })
    .describe("Running tasks per adapter; name=n,name=n for single ones. Default: 4"),
  BRIDGE_QUEUE_LIMIT: integer(1, 10_000_000).default(10_000).describe("Queued tasks in all; one more is answered 503 queue_full."),
  BRIDGE_BODY_LIMIT: bytes.default(8 * 1024 ** 2).describe("Largest request body. Default: 8 MiB"),
  BRIDGE_DEFAULT_PROFILE: z
    .enum(["inspect", "modify"])
    .default("inspect")
    .describe("Profile of a dispatch that names none: inspect or modify."),
  BRIDGE_GATEWAY_TOKEN_HASH: list
    .pipe(
      z.array(
        z
          .string()
          .regex(/^[0-9a-fA-F]{64}$/, "must be SHA-256 in hex (64 characters)")
          .transform((hash) => hash.toLowerCase()),
      ),
    )
    .optional()
    .describe("SHA-256 (hex) of a token for tenant default with all scopes; several, comma-separated, for rotation."),
  BRIDGE_TOKENS_FILE: z
    .string()
    .min(1)
    .optional()
    .describe("JSON file of tokens: [{name, tenant, sha256, scopes, expiresAt?}]. Re-read on change."),
  BRIDGE_RATE_LIMIT: integer(1, 1_000_000).optional().describe("POST requests per minute and token. Default: off"),
  BRIDGE_CALLBACK_RETRIES: integer(0, 20).default(3).describe("Retries of a callback after the first attempt."),
  BRIDGE_CALLBACK_BACKOFF_MS: integer(1, 3_600_000)
    .default(1000)
    .describe("Delay before the first retry, in ms; each further one is five times longer."),
  BRIDGE_CALLBACK_SECRETS: list
    .pipe(z.array(secret))
    .optional()
    .describe("whsec_… secrets that sign callbacks, comma-separated; all sign (rotation). None: unsigned."),
  BRIDGE_CALLBACK_ALLOW: list
    .pipe(z.array(z.string().refine(isAllowEntry, "must be a host, *.suffix or CIDR")))
    .default([])
    .describe("Hosts, *.suffixes and CIDRs that callbacks may reach although they are not public, comma-separated."),
  BRIDGE_RETENTION_DAYS: integer(1, 3650).default(7).describe("Days that ended tasks and their events are kept."),
  BRIDGE_DRAIN_SECONDS: integer(0, 3600).default(30).describe("Seconds that running tasks get to end after SIGTERM."),
  BRIDGE_IDLE_SECONDS: integer(0, 86_400)
    .default(300)
    .describe("Seconds without an event after which a streaming runtime counts as hung; 0 turns it off."),
  BRIDGE_APPROVAL_SECONDS: integer(1, 86_400).default(300).describe("Seconds that an approval waits before it counts as rejected."),
  BRIDGE_COMMAND: argv.optional().describe("Program of the command adapter, a JSON array. Default: the example agent in examples/agents/"),
  BRIDGE_COMMAND_ENV: list.default([]).describe("Names of environment variables that the command adapter's program gets, comma-separated."),
  ...program("CLAUDE", "Claude Code", ["acp", "cli"]),
  BRIDGE_CLAUDE_ACP_COMMAND: acpCommand("Claude Code"),
  ...program("CODEX", "Codex", ["acp", "cli"]),
  BRIDGE_CODEX_ACP_COMMAND: acpCommand("Codex"),
  ...program("GEMINI", "Gemini CLI", ["acp", "cli"]),
  ...program("OPENCODE", "OpenCode", ["http-api", "cli"]),
  BRIDGE_OPENCODE_CONFIG: jsonObject
    .optional()
    .describe("Configuration of OpenCode as JSON: its providers and models. Default: the provider of the key that is set"),
  BRIDGE_MCP_COMMANDS: list.default([]).describe("Commands that a dispatch may name in a stdio MCP server, comma-separated."),
  BRIDGE_METRICS_PUBLIC: flag.default(false).describe("Serve /metrics without a token."),
  BRIDGE_LOG_LEVEL: z
    .enum(["fatal", "error", "warn", "info", "debug", "trace", "silent"])
    .default("info")
    .describe("Least important log line that is written."),
} as const;

/** Settings whose value may come from a file named by `<NAME>_FILE` instead. */
const secretSettings = ["BRIDGE_GATEWAY_TOKEN_HASH", "BRIDGE_CALLBACK_SECRETS"] as const;

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
  bodyLimitBytes: number;
  defaultProfile: "inspect" | "modify";
  tokenHashes: readonly string[];
  tokensFile: string | null;
  rateLimitPerMinute: number | null;
  callbacks: { retries: number; backoffMs: number; secrets: readonly string[]; allow: readonly string[] };
  retentionDays: number;
  drainSeconds: number;
  idleSeconds: number;
  approvalSeconds: number;
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
  for (const name of new Set(adapters.filter((adapter, index) => adapters.indexOf(adapter) !== index))) {
    faults.push(`BRIDGE_ADAPTERS: names ${name} twice`);
  }
  const hasTokens = /[^,\s]/.test(env["BRIDGE_GATEWAY_TOKEN_HASH"] ?? "") || env["BRIDGE_TOKENS_FILE"] !== undefined;
  if (!hasTokens && !isLoopback(env["BRIDGE_HOST"] ?? "localhost")) {
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
    bodyLimitBytes: values.BRIDGE_BODY_LIMIT,
    defaultProfile: values.BRIDGE_DEFAULT_PROFILE,
    tokenHashes: values.BRIDGE_GATEWAY_TOKEN_HASH ?? [],
    tokensFile: values.BRIDGE_TOKENS_FILE === undefined ? null : path.resolve(values.BRIDGE_TOKENS_FILE),
    rateLimitPerMinute: values.BRIDGE_RATE_LIMIT ?? null,
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
    mcpCommands: values.BRIDGE_MCP_COMMANDS,
    metricsPublic: values.BRIDGE_METRICS_PUBLIC,
    logLevel: values.BRIDGE_LOG_LEVEL,
    adapterSettings: {
      command: { argv: values.BRIDGE_COMMAND, env: values.BRIDGE_COMMAND_ENV },
      claude: {
        command: values.BRIDGE_CLAUDE_COMMAND,
        acpCommand: values.BRIDGE_CLAUDE_ACP_COMMAND,
        connection: values.BRIDGE_CLAUDE_CONNECTION,
        home: values.BRIDGE_CLAUDE_HOME,
        env: values.BRIDGE_CLAUDE_ENV,
      },
      codex: {
        command: values.BRIDGE_CODEX_COMMAND,
        acpCommand: values.BRIDGE_CODEX_ACP_COMMAND,
        connection: values.BRIDGE_CODEX_CONNECTION,
        home: values.BRIDGE_CODEX_HOME,
        env: values.BRIDGE_CODEX_ENV,
      },
      gemini: {
        command: values.BRIDGE_GEMINI_COMMAND,
        connection: values.BRIDGE_GEMINI_CONNECTION,
        home: values.BRIDGE_GEMINI_HOME,
        env: values.BRIDGE_GEMINI_ENV,
      },
      opencode: {
        command: values.BRIDGE_OPENCODE_COMMAND,
        connection: values.BRIDGE_OPENCODE_CONNECTION,
        home: values.BRIDGE_OPENCODE_HOME,
        env: values.BRIDGE_OPENCODE_ENV,
        config: values.BRIDGE_OPENCODE_CONFIG,
      },
    },
  };
  return { config, warnings: unknownNames(present) };
}

/** Is it a loopback address or name? Only there may Bridge make its own token. */
const isLoopback = (host: string): boolean =>
  host === "localhost" || host === "::1" || host === "[::1]" || (isIP(host) === 4 && host.startsWith("127."));

function isAllowEntry(entry: string): boolean {
  const [address, bits, ...rest] = entry.split("/");
  const family = isIP(address ?? "");
  if (bits !== undefined) return rest.length === 0 && family !== 0 && /^\d{1,3}$/.test(bits) && Number(bits) <= (family === 4 ? 32 : 128);
  return family !== 0 || /^(\*\.)?[A-Za-z0-9_]([A-Za-z0-9_.-]*[A-Za-z0-9_])?$/.test(entry);
}

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
  const known = new Set([...Object.keys(settings), ...secretSettings.map((name) => `${name}_FILE`)]);
  return Object.keys(env)
    .filter((name) => name.startsWith("BRIDGE_") && !known.has(name))
    .map((name) => `${name} is not a setting of Bridge and is ignored`);
}
