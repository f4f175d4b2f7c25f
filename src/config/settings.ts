import { isIP } from "node:net";
import { z } from "zod";
import { expected } from "../errors.ts";

const list = z.string().transform((text) =>
  text
    .split(",")
    .map((part) => part.trim())
    .filter((part) => part !== ""),
);
const choice = <const Names extends readonly [string, ...string[]]>(names: Names) => z.enum(names, expected(names.join(" or ")));
const integer = (min: number, max: number) =>
  z
    .string()
    .trim()
    .refine((text) => /^\d+$/.test(text) && Number(text) >= min && Number(text) <= max, {
      ...expected(`a whole number from ${min} to ${max}`),
      abort: true,
    })
    .transform(Number);
/** A limit that can be turned off; null means no limit. */
const limit = (max: number) =>
  z.union([z.literal("off").transform(() => null), integer(1, max)], expected(`off or a whole number from 1 to ${max}`)).default(null);
const flag = z.enum(["true", "false", "1", "0"], expected("true or false")).transform((text) => text === "true" || text === "1");

/** `m`, `MB` and `MiB` are the same size, as in other servers. */
const units = { "": 1, b: 1, k: 1024, m: 1024 ** 2, g: 1024 ** 3 } as const;
const bytes = z
  .string()
  .trim()
  .regex(/^\d+ *(b|[kmg](i?b)?)?$/i, expected("a size such as 8 MiB, 8m or 8388608"))
  .transform((text) => {
    const [, count, unit = ""] = /^(\d+) *(\w?)/.exec(text.toLowerCase()) ?? [];
    return Number(count) * units[unit as keyof typeof units];
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

const argvByName = z.string().transform((text, context) => {
  try {
    return z.record(z.string().regex(/^[a-z][a-z0-9-]*$/), z.array(z.string().min(1)).min(1)).parse(JSON.parse(text));
  } catch {
    context.addIssue('must be a JSON object of names (a-z, then a-z 0-9 -) and arrays of strings, for example {"flowmark": ["flowmark"]}');
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

const acpCommand = 'must be an array of strings, for example ["goose","acp"]';
const acpAgent = z.preprocess(
  (given) => (Array.isArray(given) ? { command: given } : given),
  z.strictObject({
    command: z.array(z.string(acpCommand).min(1, acpCommand), acpCommand).min(1, acpCommand),
    env: z.array(z.string().regex(/^[A-Za-z_]\w*$/, "must be the name of a variable, without its value")).default([]),
    home: choice(["agent", "user"]).default("agent"),
    modes: z.strictObject({ inspect: z.string().min(1).optional(), modify: z.string().min(1).optional() }).default({}),
    authMethod: z.string().min(1).optional(),
  }),
);
const acpAgentName = z.string().regex(/^[a-z][a-z0-9-]{0,63}$/, "a name is a-z, then a-z 0-9 -");
const acpAgents = z.string().transform((text, context) => {
  try {
    return z.record(acpAgentName, acpAgent).parse(JSON.parse(text));
  } catch (error) {
    const [fault] = error instanceof z.ZodError ? error.issues : [];
    const place =
      fault === undefined ? "" : ` (${fault.path.join(".")}: ${fault.code === "invalid_key" ? fault.issues[0]?.message : fault.message})`;
    context.addIssue(`must be JSON of agents and what starts each, for example {"goose":["goose","acp"]}${place}`);
    return z.NEVER;
  }
});

const dollars = z.number().nonnegative();
const modelPrices = z.string().transform((text, context) => {
  const table = z.record(
    z.string(),
    z.strictObject({ input: dollars, output: dollars, cacheRead: dollars.optional(), cacheWrite: dollars.optional() }),
  );
  try {
    return table.parse(JSON.parse(text));
  } catch {
    context.addIssue('must be JSON of US dollars for a million tokens, for example {"my-model":{"input":3,"output":15,"cacheRead":0.3}}');
    return z.NEVER;
  }
});
const httpUrl = z.url({ protocol: /^https?$/, error: "must be an http:// or https:// URL" });

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
  }, "must hold 24 to 64 bytes; make one with: echo whsec_$(openssl rand -base64 32)");

const program = (title: string, usual: string) =>
  z.string().min(1).optional().describe(`Program of ${title} instead of ${usual}: a path, or a name on the PATH.`);
/** The model of the `api` connection, which speaks to the vendor without its program. */
const apiModel = (title: string, model: string) =>
  z.string().min(1).default(model).describe(`Model of a task over the api connection to ${title} that names none.`);
const connection = <Names extends readonly [string, ...string[]]>(title: string, names: Names) =>
  choice(names)
    .optional()
    .describe(`The only connection to ${title} that is used: ${names.join(" or ")}. Default: the first that works`);
const home = (title: string) =>
  choice(["agent", "user"])
    .default("agent")
    .describe(`Home of ${title}: agent (one per tenant and agent) or user (your own, with its login).`);
const moreVariables = (title: string) =>
  list.default([]).describe(`Names of further environment variables that ${title} gets, comma-separated.`);

/**
 * Every setting, in the order in which `.env.example` and the README show them.
 * `meta.example` is what the generated files show where there is no default.
 */
export const settings = {
  BRIDGE_HOST: z
    .string()
    .refine(isHost, expected("an IP address or a host name, without a scheme, port or path"))
    .default("127.0.0.1")
    .describe("Address to listen on. Any other than loopback needs a token."),
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
    .describe(
      "Adapters to load, comma-separated: catalogue names, acp:<name>, paths or packages that export createAdapter. Default: command",
    ),
  GATEWAY_PROVIDER: z.string().min(1).optional().describe("Alias of BRIDGE_ADAPTERS for a single adapter."),
  BRIDGE_MAX_CONCURRENT: perAdapter
    .default({ fallback: 4, limits: new Map() })
    .describe("Running tasks per adapter; name=n,name=n for single ones. Default: 4"),
  BRIDGE_QUEUE_LIMIT: integer(1, 10_000_000)
    .default(10_000)
    .describe("Maximum queued tasks of all tenants. A further dispatch gets 503 queue_full, unless its tenant is below its fair share."),
  BRIDGE_TENANT_QUEUE_LIMIT: limit(10_000_000).describe("Maximum queued tasks of one tenant, or off. Default: off"),
  BRIDGE_TENANT_MAX_RUNNING: limit(1_000_000).describe("Maximum running tasks of one tenant on all adapters, or off. Default: off"),
  BRIDGE_AGENT_QUEUE_LIMIT: limit(10_000_000).describe("Maximum queued tasks of one agent of a tenant, or off. Default: off"),
  BRIDGE_AGENT_MAX_RUNNING: limit(1_000_000).describe(
    "Maximum running tasks of one agent of a tenant on all adapters, or off. Default: off",
  ),
  BRIDGE_BODY_LIMIT: bytes.default(8 * 1024 ** 2).describe("Largest request body. Default: 8 MiB"),
  BRIDGE_DEFAULT_PROFILE: choice(["inspect", "modify"])
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
    .describe("JSON file of tokens: [{name, tenant, sha256, scopes, expiresAt?, weight?, …}]. Re-read on change."),
  BRIDGE_RATE_LIMIT: z
    .union([z.literal("off"), integer(1, 1_000_000)], expected("off or a whole number from 1 to 1000000"))
    .default("off")
    .describe("Maximum POST requests, task deletions and workspace file writes per token and minute, or off."),
  BRIDGE_CORS_ORIGINS: list
    .pipe(z.array(z.string().refine(isOrigin, "must be an origin such as https://app.example, without a path, or *")))
    .default([])
    .describe("Origins whose pages may call Bridge from a browser, with a token, comma-separated; * is all."),
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
  BRIDGE_PROBE_SECONDS: integer(1, 600)
    .optional()
    .describe(
      "Seconds that an agent program may take to start and answer, in a health check and at the start of a task over acp, from 1 to 600. Default: 20, up to 80 on a busy machine",
    ),
  BRIDGE_APPROVAL_SECONDS: integer(1, 86_400).default(300).describe("Seconds that an approval waits before it counts as rejected."),
  BRIDGE_SANDBOX: choice(["off", "auto", "required"])
    .default("off")
    .describe("Sandbox of bubblewrap around every runtime: off, auto (where it works) or required (else Bridge does not start)."),
  BRIDGE_COMMAND: argv.optional().describe("Program of the command adapter, a JSON array. Default: the example agent in examples/agents/"),
  BRIDGE_COMMAND_ENV: list.default([]).describe("Names of environment variables that the command adapter's program gets, comma-separated."),
  BRIDGE_CLAUDE_COMMAND: program("Claude Code", "claude"),
  BRIDGE_CLAUDE_ACP_COMMAND: program("the acp connection to Claude Code", "claude-agent-acp"),
  BRIDGE_CLAUDE_CONNECTION: connection("Claude Code", ["acp", "cli", "api"]),
  BRIDGE_CLAUDE_HOME: home("Claude Code"),
  BRIDGE_CLAUDE_ENV: moreVariables("Claude Code"),
  BRIDGE_CLAUDE_API_MODEL: apiModel("Claude Code", "claude-opus-5-5"),
  BRIDGE_CLAUDE_AGENT_SDK_PACKAGE: z
    .string()
    .min(1)
    .optional()
    .describe("Directory in which @anthropic-ai/claude-agent-sdk is installed, where that is not beside Bridge."),
  BRIDGE_CLAUDE_AGENT_SDK_COMMAND: program("the Claude Agent SDK", "the one that comes with it"),
  BRIDGE_CLAUDE_AGENT_SDK_HOME: home("the Claude Agent SDK"),
  BRIDGE_CLAUDE_AGENT_SDK_ENV: moreVariables("the Claude Agent SDK"),
  BRIDGE_CODEX_COMMAND: program("Codex", "codex"),
  BRIDGE_CODEX_ACP_COMMAND: program("the acp connection to Codex", "codex-acp"),
  BRIDGE_CODEX_CONNECTION: connection("Codex", ["acp", "cli", "api"]),
  BRIDGE_CODEX_HOME: home("Codex"),
  BRIDGE_CODEX_ENV: moreVariables("Codex"),
  BRIDGE_CODEX_API_MODEL: apiModel("Codex", "gpt-6.1-sol"),
  BRIDGE_GEMINI_COMMAND: program("Gemini CLI", "gemini"),
  BRIDGE_GEMINI_CONNECTION: connection("Gemini CLI", ["cli", "acp", "api"]),
  BRIDGE_GEMINI_HOME: home("Gemini CLI"),
  BRIDGE_GEMINI_ENV: moreVariables("Gemini CLI"),
  BRIDGE_GEMINI_API_MODEL: apiModel("Gemini CLI", "gemini-pro-latest"),
  BRIDGE_OPENCLAW_URL: z
    .url({ protocol: /^wss?$/, error: "must be a ws:// or wss:// URL" })
    .default("ws://127.0.0.1:18789")
    .describe("Where the OpenClaw gateway listens."),
  BRIDGE_OPENCLAW_TOKEN: z.string().min(1).optional().describe("Token of the OpenClaw gateway, its gateway.auth.token."),
  BRIDGE_OPENCLAW_WORKSPACE: choice(["bridge", "agent"])
    .default("bridge")
    .describe("Where tasks work: bridge (Bridge's workspaces, which the gateway must see) or agent (the OpenClaw agent's own workspace)."),
  BRIDGE_OPENCLAW_STATE_DIR: z
    .string()
    .min(1)
    .optional()
    .describe("State directory of the OpenClaw gateway on this machine, for what it has no call for."),
  BRIDGE_OPENCLAW_COMMAND: argv
    .optional()
    .describe('OpenClaw\'s command line on this machine, a JSON array such as ["openclaw"], for what only that can do.'),
  BRIDGE_OPENCODE_COMMAND: program("OpenCode", "opencode"),
  BRIDGE_OPENCODE_CONNECTION: connection("OpenCode", ["http-api", "cli"]),
  BRIDGE_OPENCODE_HOME: home("OpenCode"),
  BRIDGE_OPENCODE_ENV: moreVariables("OpenCode"),
  BRIDGE_OPENCODE_CONFIG: jsonObject
    .optional()
    .describe("Configuration of OpenCode as JSON: its providers and models. Default: the provider of the key that is set"),
  BRIDGE_GLOO_AI_BASE_URL: httpUrl.default("https://platform.ai.gloo.com/ai/v2").describe("Endpoint of Gloo AI's models, with its path."),
  BRIDGE_GLOO_AI_TOKEN_URL: httpUrl
    .default("https://platform.ai.gloo.com/oauth2/token")
    .describe("Where the tokens for it come from, for GLOO_CLIENT_ID and GLOO_CLIENT_SECRET."),
  BRIDGE_GLOO_AI_MODEL: z
    .string()
    .min(1)
    .default("auto")
    .describe("Model of a task on Gloo AI that names none: auto, family:<name> or the id of a model."),
  BRIDGE_GLOO_AI_TRADITION: choice(["evangelical", "catholic", "mainline", "not_faith_specific"])
    .optional()
    .describe("Perspective from which Gloo AI answers: evangelical, catholic, mainline or not_faith_specific. Default: Gloo's own"),
  BRIDGE_VERCEL_AI_PROTOCOL: choice(["openai-compatible", "anthropic"])
    .default("openai-compatible")
    .describe("What the endpoint of vercel-ai speaks: openai-compatible or anthropic."),
  BRIDGE_VERCEL_AI_BASE_URL: httpUrl
    .optional()
    .describe(
      "Endpoint of vercel-ai with its path, such as http://127.0.0.1:11434/v1. Default: Anthropic's own under anthropic, else none",
    ),
  BRIDGE_VERCEL_AI_API_KEY: z.string().min(1).optional().describe("Key of that endpoint, if it wants one."),
  BRIDGE_VERCEL_AI_MODEL: z.string().min(1).optional().describe("Model of a task on vercel-ai that names none."),
  BRIDGE_VERCEL_AI_STRUCTURED_OUTPUT: flag
    .default(false)
    .describe("The endpoint of vercel-ai takes a JSON Schema as the format of an answer. Without it the message asks for JSON."),
  BRIDGE_MODEL_PRICES: modelPrices
    .optional()
    .describe("Prices from which plain model calls tell their cost, as JSON: US dollars for a million tokens, by model. Default: no cost"),
  BRIDGE_MODEL_MAX_STEPS: integer(1, 10_000)
    .default(50)
    .describe("Calls of the model in one task of a plain model connection, tools between them."),
  BRIDGE_ACP_AGENTS: acpAgents
    .default({})
    .describe(
      'Agents for acp:<name> in BRIDGE_ADAPTERS, as JSON: {"goose":["goose","acp"]}, or for each command, env, home, modes and authMethod.',
    ),
  BRIDGE_COUNCIL_MAX_RUNS: integer(1, 10_000)
    .default(200)
    .describe("Questions that one council may ask in all; a council that needs more is refused before it begins."),
  BRIDGE_RESPONDER_TOOLS: argvByName
    .default({})
    .describe(
      'Tools that the responder may use, a JSON object of names and argument lists, such as {"flowmark": ["flowmark"]}. Default: none',
    ),
  BRIDGE_RESPONDER_MODEL: z.string().min(1).optional().describe("Model of the responder's provider openai, where a dispatch names none."),
  BRIDGE_MCP_COMMANDS: list.default([]).describe("Commands that a dispatch may name in a stdio MCP server, comma-separated."),
  BRIDGE_METRICS_PUBLIC: flag.default(false).describe("Serve /metrics without a token."),
  BRIDGE_LOG_LEVEL: choice(["fatal", "error", "warn", "info", "debug", "trace", "silent"])
    .default("info")
    .describe("Least important log line that is written."),
} as const;

/** Without regard to whether it can be resolved. */
function isHost(text: string): boolean {
  return isIP(text.replace(/^\[(.*)\]$/, "$1")) !== 0 || /^[A-Za-z0-9_]([A-Za-z0-9_.-]*[A-Za-z0-9_.])?$/.test(text);
}

function isAllowEntry(entry: string): boolean {
  const [address, bits, ...rest] = entry.split("/");
  const family = isIP(address ?? "");
  if (bits !== undefined) return rest.length === 0 && family !== 0 && /^\d{1,3}$/.test(bits) && Number(bits) <= (family === 4 ? 32 : 128);
  return family !== 0 || /^(\*\.)?[A-Za-z0-9_]([A-Za-z0-9_.-]*[A-Za-z0-9_])?$/.test(entry);
}

/** A scheme, a host and, unless it is the scheme's own, a port, as browsers write them. */
function isOrigin(text: string): boolean {
  if (text === "*") return true;
  if (/^https?:/.test(text)) return !text.includes("*") && URL.canParse(text) && new URL(text).origin === text;
  return /^[a-z][a-z0-9+.-]*:\/\/[a-z0-9.-]+$/.test(text);
}
