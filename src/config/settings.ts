import { isIP } from "node:net";
import { z } from "zod";
import { type AdapterSetting, type Catalog, choice, expected, integer, readFlag, readInteger, readList } from "#contract";

const wholeNumber = (min: number, max: number) => z.preprocess(createTextReader(readInteger), integer(min, max));
const flag = z.preprocess(createTextReader(readFlag), z.boolean(expected("true or false")));
const list = z.string().transform(readList);

/** A limit that can be turned off; null means no limit. */
const limit = (max: number) =>
  z.union([z.literal("off").transform(() => null), wholeNumber(1, max)], expected(`off or a whole number from 1 to ${max}`)).default(null);

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

/** A limit for each adapter, such as `4` or `2,claude=8`. */
const limitPerAdapter = z.string().transform((text, context) => {
  const limits = new Map<string, number>();
  let fallback: number | undefined;
  for (const part of text.split(",").map((item) => item.trim())) {
    const [, name, count] = /^(?:(.+)=)?(\d+)$/.exec(part) ?? [];
    const limit = Number(count);
    const isRepeated = name === undefined ? fallback !== undefined : limits.has(name);
    if (!(limit >= 0 && limit <= 10_000) || isRepeated) {
      context.addIssue(
        "must be numbers from 0 to 10000, separated by commas: one default, name=number for each adapter, or both, such as 4,claude=2",
      );
      return z.NEVER;
    }
    if (name === undefined) fallback = limit;
    else limits.set(name.trim(), limit);
  }
  return { fallback: fallback ?? DEFAULT_CONCURRENCY, limits };
});

/** Running tasks per adapter. */
const DEFAULT_CONCURRENCY = 4;

/** A secret that signs callbacks or webhooks. */
export const callbackSecret: z.ZodType<string, string> = z
  .string()
  .regex(/^whsec_[A-Za-z0-9+/]+={0,2}$/, { error: "must be whsec_ followed by base64", abort: true })
  .refine((text) => {
    const size = Buffer.from(text.slice("whsec_".length), "base64").length;
    return size >= 24 && size <= 64;
  }, "must encode 24 to 64 bytes; generate one with: echo whsec_$(openssl rand -base64 32)");

/** Whether a URL names a PostgreSQL server and one of its databases. */
const isPostgresUrl = (text: string): boolean => {
  const url = URL.parse(text);
  return url !== null && /^postgres(ql)?:$/.test(url.protocol) && url.hostname !== "" && /^\/[^/]+$/.test(url.pathname);
};

const NODE_NAME = /^[A-Za-z0-9]([A-Za-z0-9._-]{0,62}[A-Za-z0-9])?$/;
const nodeNameText = "must be 1 to 64 letters, digits, dots, hyphens or underscores, and begin and end with a letter or digit";
const TAG = /^[A-Za-z0-9]([A-Za-z0-9._:-]{0,62}[A-Za-z0-9])?$/;
const tagText = "must be 1 to 64 letters, digits, dots, colons, hyphens or underscores, and begin and end with a letter or digit";

/** The settings of the server itself, in the order of `.env.example`. Each is a schema of the text of its environment variable. */
export const serverSettings = {
  BRIDGE_HOST: z
    .string()
    .refine(isHost, expected("an IP address or a host name, without a scheme, port or path"))
    .default("127.0.0.1")
    .describe("Address to listen on: an IP address or a host name. Any address other than loopback requires a token."),
  BRIDGE_PORT: wholeNumber(0, 65_535)
    .default(8787)
    .describe("Port to listen on, from 0 to 65535. With 0, the system chooses a free port, and the first log line contains it."),
  BRIDGE_DATA_DIR: z
    .string()
    .min(1)
    .default("./data")
    .describe("Directory for all data that must survive a restart. Only one Bridge can use it at a time."),
  BRIDGE_DATABASE_URL: z
    .string()
    .refine(
      (url) => /^sqlite:.+/.test(url) || isPostgresUrl(url),
      "must begin with sqlite: followed by a file name, or have the form postgres://user:password@host:port/database",
    )
    .optional()
    .meta({
      description:
        "Database: a SQLite file, for example sqlite:/srv/bridge/bridge.db, or PostgreSQL 14 or newer, for example postgres://bridge:password@db.example.com:5432/bridge. Default: sqlite:<data dir>/bridge.db",
      isSecret: true,
    }),
  BRIDGE_DATABASE_LISTEN_URL: z
    .string()
    .refine(isPostgresUrl, "must have the form postgres://user:password@host:port/database")
    .optional()
    .meta({
      description:
        "PostgreSQL URL for notifications between nodes. Set it if BRIDGE_DATABASE_URL leads to a pooler such as PgBouncer, which does not support LISTEN. Default: BRIDGE_DATABASE_URL",
      isSecret: true,
    }),
  BRIDGE_MIGRATE: choice(["auto", "off"])
    .default("auto")
    .describe(
      "Whether Bridge upgrades the schema of a PostgreSQL database when it starts: auto, or off (Bridge refuses an older schema; run npx brg db migrate).",
    ),
  BRIDGE_NODE_NAME: z
    .string()
    .regex(NODE_NAME, nodeNameText)
    .optional()
    .describe("Name of this node among the nodes of a PostgreSQL database. It must be unique. Default: the host name"),
  BRIDGE_NODE_URL: z
    .url({ protocol: /^https?$/, error: "must be an http or https URL, for example http://bridge-1:8787" })
    .optional()
    .describe(
      "URL at which the other nodes reach this node, for requests about files and managed agents, for example http://bridge-1:8787. Default: none",
    ),
  BRIDGE_NODE_TAGS: list
    .pipe(
      z
        .array(
          z
            .string()
            .regex(TAG, tagText)
            .refine((tag) => !tag.startsWith("node:"), "must not begin with node:, which precedes the name of a node"),
        )
        .max(64, "must be at most 64 tags"),
    )
    .default([])
    .describe("Tags of this node, comma-separated, for example gpu,eu. A dispatch with runsOn runs only on a node with all of its tags."),
  BRIDGE_LEASE_SECONDS: wholeNumber(3, 3600)
    .default(120)
    .describe(
      "Time without contact to the database, in seconds from 3 to 3600, after which the other nodes count a node as dead and end its tasks. A node stops its own tasks after two thirds of it.",
    ),
  BRIDGE_NODE_GRACE_SECONDS: wholeNumber(0, 86_400)
    .default(120)
    .describe(
      "Time after the end of its lease, in seconds from 0 to 86400, for which the queued tasks of the agents of a dead node wait for its return. Then they fail with adapter_offline.",
    ),
  BRIDGE_FILES: choice(["local", "shared", "ephemeral"])
    .default("local")
    .describe(
      "Where the files of agents are: local (on this node, where the agent stays), shared (all nodes mount the same directory at the same path) or ephemeral (lost with the node).",
    ),
  BRIDGE_FILES_DIR: z
    .string()
    .min(1)
    .optional()
    .describe(
      "Directory for the files of agents: workspaces, homes and sessions. Required with BRIDGE_FILES=shared. Locks and temporary files stay in the data directory. Default: <data dir>",
    ),
  BRIDGE_DELIVER: flag
    .default(true)
    .describe(
      "Whether this node posts callbacks and webhooks. Turn it off if receivers do not accept its address. Needs PostgreSQL, where other nodes post them.",
    ),
  BRIDGE_WORKSPACES_DIR: z
    .string()
    .min(1)
    .optional()
    .describe("Directory for the workspaces of agents, as <dir>/<tenant>/<agentId>. Default: <files dir>/workspaces"),
  BRIDGE_ADAPTERS: list.optional().meta({
    description:
      "Adapters to load, comma-separated: names from the catalog, acp:<name>, and paths or packages that export createAdapter. Default: command",
    example: "command",
  }),
  GATEWAY_PROVIDER: z.string().min(1).optional().describe("Alias of BRIDGE_ADAPTERS for a single adapter."),
  BRIDGE_MAX_CONCURRENT: limitPerAdapter
    .default({ fallback: DEFAULT_CONCURRENCY, limits: new Map() })
    .describe(
      "Maximum running tasks per adapter, from 0 to 10000; name=number sets the limit of one adapter, for example 4,claude=2. With 0, other nodes run the tasks. Default: 4",
    ),
  BRIDGE_QUEUE_LIMIT: wholeNumber(1, 10_000_000)
    .default(10_000)
    .describe(
      "Maximum queued tasks of all tenants. At this limit, Bridge rejects a dispatch with 503 queue_full, unless its tenant is below its fair share.",
    ),
  BRIDGE_TENANT_QUEUE_LIMIT: limit(10_000_000).describe("Maximum queued tasks per tenant, or off. Default: off"),
  BRIDGE_TENANT_MAX_RUNNING: limit(1_000_000).describe("Maximum running tasks per tenant on all adapters, or off. Default: off"),
  BRIDGE_AGENT_QUEUE_LIMIT: limit(10_000_000).describe("Maximum queued tasks per agent of a tenant, or off. Default: off"),
  BRIDGE_AGENT_MAX_RUNNING: limit(1_000_000).describe("Maximum running tasks per agent of a tenant on all adapters, or off. Default: off"),
  BRIDGE_BODY_LIMIT: bytes
    .default(8 * 1024 ** 2)
    .describe("Maximum size of a request body, from 1 KiB to 1 GiB, for example 8 MiB, 8m or 8388608. Default: 8 MiB"),
  BRIDGE_DEFAULT_PROFILE: choice(["inspect", "modify"])
    .default("inspect")
    .describe("Profile of a dispatch that sets none: inspect (read-only) or modify (may edit files and run commands)."),
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
    .meta({
      description:
        "SHA-256 (hex) of a token for the tenant default with all scopes. During a rotation: several hashes, comma-separated, all valid. With PostgreSQL, this or BRIDGE_TOKENS_FILE must be set.",
      isSecret: true,
    }),
  BRIDGE_TOKENS_FILE: z
    .string()
    .min(1)
    .optional()
    .describe("JSON file of tokens: [{name, tenant, sha256, scopes, expiresAt?, weight?, …}]. Bridge reloads it when it changes."),
  BRIDGE_RATE_LIMIT: z
    .union([z.literal("off"), wholeNumber(1, 1_000_000)], expected("off or a whole number from 1 to 1000000"))
    .default("off")
    .describe(
      "Maximum POST requests, task deletions, workspace file writes, and WebSocket requests that start or cancel a run or decide an approval, per token and minute, or off.",
    ),
  BRIDGE_CORS_ORIGINS: list
    .pipe(z.array(z.string().refine(isOrigin, "must be an origin such as https://app.example, without a path, or *")))
    .default([])
    .describe(
      "Origins whose pages may call Bridge from a browser, comma-separated, for example https://app.example; * allows all. Each call still needs a token.",
    ),
  BRIDGE_CALLBACK_RETRIES: z
    .union([z.literal("three-days"), wholeNumber(0, 20)], expected("three-days or a whole number from 0 to 20"))
    .default(3)
    .describe(
      "Maximum retries of a callback after its first attempt, from 0 to 20, or three-days: retries over three days, at least every 4 hours.",
    ),
  BRIDGE_CALLBACK_BACKOFF_MS: wholeNumber(1, 3_600_000)
    .default(1000)
    .describe("Delay before the first retry of a callback, in milliseconds. Each later delay is five times longer."),
  BRIDGE_CALLBACK_SECRETS: list.pipe(z.array(callbackSecret)).optional().meta({
    description:
      "Secrets that sign callbacks: whsec_ followed by base64, comma-separated. During a rotation, each of them signs. Without a secret, callbacks are unsigned.",
    isSecret: true,
  }),
  BRIDGE_CALLBACK_ALLOW: list
    .pipe(z.array(z.string().refine(isAllowEntry, "must be a host, *.suffix or CIDR")))
    .default([])
    .describe(
      "Non-public hosts that callbacks and the MCP servers of a dispatch may use, comma-separated: hosts, *.suffixes and CIDRs, for example 127.0.0.1,*.internal.example,10.0.0.0/8.",
    ),
  BRIDGE_WEBHOOKS_FILE: z
    .string()
    .min(1)
    .optional()
    .describe(
      "JSON file of webhooks: [{name, url, secrets, tenant?, types?, filter?, headers?}]. Bridge reloads it when it changes. Needs BRIDGE_PUBLIC_URL.",
    ),
  BRIDGE_PUBLIC_URL: z
    .url({ protocol: /^https?$/, error: "must be an http or https URL, for example https://bridge.example.com" })
    .optional()
    .describe(
      "URL at which people reach Bridge, for links to the console in webhooks and for the sign-in link, for example https://bridge.example.com.",
    ),
  BRIDGE_RETENTION_DAYS: wholeNumber(1, 3650)
    .default(7)
    .describe("Number of days, from 1 to 3650, that Bridge keeps ended tasks and their events."),
  BRIDGE_DRAIN_SECONDS: wholeNumber(0, 3600)
    .default(30)
    .describe("Time for running tasks to end after SIGTERM, in seconds, from 0 to 3600."),
  BRIDGE_IDLE_SECONDS: wholeNumber(0, 86_400)
    .default(300)
    .describe(
      "Time without an event and without an open tool call after which a task on a streaming runtime fails with idle_timeout, in seconds; 0 turns it off.",
    ),
  BRIDGE_APPROVAL_SECONDS: wholeNumber(0, 86_400)
    .default(300)
    .describe("Time after which an undecided approval counts as rejected, in seconds, up to 86400; 0: a task waits without a time limit."),
  BRIDGE_SANDBOX: choice(["off", "auto", "required"])
    .default("off")
    .describe(
      "Sandbox (bubblewrap) for every runtime: off, auto (a warning if no sandbox works) or required (Bridge does not start without one). With PostgreSQL and an adapter that runs programs, it must be set.",
    ),
  BRIDGE_MCP_COMMANDS: list
    .default([])
    .describe("Commands that a dispatch may set for a stdio MCP server, comma-separated, for example npx,/opt/mcp-files. Default: none"),
  BRIDGE_METRICS_PUBLIC: flag.default(false).describe("Whether /metrics is served without a token."),
  OTEL_EXPORTER_OTLP_ENDPOINT: z
    .url({ protocol: /^https?$/, error: "must be an http or https URL, for example http://127.0.0.1:4318" })
    .optional()
    .describe(
      "URL of an OpenTelemetry collector that accepts OTLP over HTTP, for example http://127.0.0.1:4318. Bridge exports traces to <url>/v1/traces. Default: no traces",
    ),
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: z
    .url({ protocol: /^https?$/, error: "must be an http or https URL, for example http://127.0.0.1:4318/v1/traces" })
    .optional()
    .describe("URL to which Bridge exports traces, with its path, instead of OTEL_EXPORTER_OTLP_ENDPOINT."),
  OTEL_TRACES_SAMPLER: z
    .string()
    .default("parentbased_always_on")
    .describe(
      "Which traces Bridge exports: always_on, always_off, traceidratio, or one of them after parentbased_, which follows the caller's traceparent if there is one.",
    ),
  OTEL_TRACES_SAMPLER_ARG: z
    .string()
    .optional()
    .describe("Ratio of the traces that traceidratio and parentbased_traceidratio export, from 0 to 1. Default: 1"),
  OTEL_SDK_DISABLED: z.string().optional().describe("Set it to true to turn off traces."),
  BRIDGE_OTEL_CONTENT: list
    .pipe(z.array(choice(["messages", "tools"])))
    .default([])
    .describe(
      "Content that traces contain, comma-separated: messages (prompts and answers), tools (arguments and results of tools), each up to 8 KiB. Default: none",
    ),
  BRIDGE_LOG_LEVEL: choice(["fatal", "error", "warn", "info", "debug", "trace", "silent"])
    .default("info")
    .describe("Minimum log level: fatal, error, warn, info, debug, trace or silent."),
  BRIDGE_LOG_FORMAT: choice(["auto", "json", "text"])
    .default("auto")
    .describe(
      "Format of the log on stdout: json (one JSON object in each line), text (lines for people), or auto (text if stdout is a terminal, otherwise json).",
    ),
  BRIDGE_LOG_REQUESTS: flag
    .default(false)
    .describe(
      "Whether Bridge logs one line for each request when its response has ended, at the level info: method, route, status, duration, token name and tenant, without paths, queries and bodies.",
    ),
} as const;

/** The setting that the adapters' settings follow in `.env.example`. */
const LAST_BEFORE_ADAPTERS = "BRIDGE_SANDBOX";

/** All settings by name, in the order of `.env.example`. A setting that several adapters share is listed once, with the last of them. */
export function listSettings(catalog: Catalog): Readonly<Record<string, z.ZodType>> {
  const adapterSchemas = new Map<string, z.ZodType>();
  for (const setting of catalog.flatMap(({ settings }) => Object.values(settings))) {
    adapterSchemas.delete(setting.variable);
    adapterSchemas.set(setting.variable, toTextSchema(setting));
  }
  const listSettingsAfter = (name: string) =>
    [...adapterSchemas].filter(([, schema]) => (schema.meta()?.["after"] ?? LAST_BEFORE_ADAPTERS) === name);
  return Object.fromEntries(Object.entries(serverSettings).flatMap((entry) => [entry, ...listSettingsAfter(entry[0])]));
}

/** Names of settings whose value may come from a file named by `<NAME>_FILE` instead. */
export const listSecrets = (settings: Readonly<Record<string, z.ZodType>>): string[] =>
  Object.entries(settings).flatMap(([name, schema]) => (schema.meta()?.["isSecret"] === true ? [name] : []));

/** Returns the schema of the text of an adapter's setting. */
function toTextSchema({ schema, read }: AdapterSetting): z.ZodType {
  return read === undefined ? schema : z.preprocess(createTextReader(read), schema).meta(schema.meta() ?? {});
}

/** Returns a preprocessor that applies `read` to a text. A variable that is not set stays undefined. */
function createTextReader(read: (text: string) => unknown) {
  return (text: unknown): unknown => (typeof text === "string" ? read(text) : text);
}

/** Checks the form only; the name may not resolve. */
function isHost(text: string): boolean {
  return isIP(text.replace(/^\[(.*)\]$/, "$1")) !== 0 || /^[A-Za-z0-9_]([A-Za-z0-9_.-]*[A-Za-z0-9_.])?$/.test(text);
}

function isAllowEntry(entry: string): boolean {
  const [address, bits, ...rest] = entry.split("/");
  const family = isIP(address ?? "");
  if (bits !== undefined) return rest.length === 0 && family !== 0 && /^\d{1,3}$/.test(bits) && Number(bits) <= (family === 4 ? 32 : 128);
  return family !== 0 || /^(\*\.)?[A-Za-z0-9_]([A-Za-z0-9_.-]*[A-Za-z0-9_])?$/.test(entry);
}

/** Checks for a scheme, a host and, unless it is the default, a port, in the form that browsers send. */
function isOrigin(text: string): boolean {
  if (text === "*") return true;
  if (/^https?:/.test(text)) return !text.includes("*") && URL.canParse(text) && new URL(text).origin === text;
  return /^[a-z][a-z0-9+.-]*:\/\/[a-z0-9.-]+$/.test(text);
}
