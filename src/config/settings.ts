import { hostname } from "node:os";
import { z } from "zod";
import { choice, expected } from "#contract";
import {
  allowedHosts,
  amount,
  bytes,
  callbackSecret,
  databaseUrl,
  flag,
  host,
  httpUrl,
  limit,
  limitPerAdapter,
  list,
  modelPrices,
  nodeName,
  nodeTags,
  origins,
  path,
  postgresUrl,
  tokenHashes,
  wholeNumber,
} from "./value-schemas.ts";

/** A setting of the server: an environment variable and the schema of its text. */
export interface ServerSetting<Schema extends z.ZodType = z.ZodType> {
  variable: string;
  schema: Schema;
  /** For the operator. "Default: …" at its end describes a default that is not a single value. */
  description: string;
  /** Whether the value may come from a file that `<variable>_FILE` names. */
  isSecret?: boolean;
  /** Whether the value should be the same on all nodes. */
  shared: boolean;
}

/** Settings by their names in `Config`, in groups. */
export interface SettingGroup {
  readonly [name: string]: ServerSetting | SettingGroup;
}

/** The settings of the server itself, in the order of `.env.example`. */
export const serverSettings = {
  host: {
    variable: "BRIDGE_HOST",
    schema: host.default("127.0.0.1"),
    shared: false,
    description: "Address to listen on: an IP address or a host name. Any address other than loopback requires a token.",
  },
  port: {
    variable: "BRIDGE_PORT",
    schema: wholeNumber(0, 65_535).default(8787),
    shared: false,
    description: "Port to listen on, from 0 to 65535. With 0, the system chooses a free port, and the first log line contains it.",
  },
  dataDir: {
    variable: "BRIDGE_DATA_DIR",
    schema: z.string().min(1).default("./data"),
    shared: false,
    description: "Directory for all data that must survive a restart. Only one Bridge can use it at a time.",
  },
  databaseUrl: {
    variable: "BRIDGE_DATABASE_URL",
    schema: databaseUrl,
    isSecret: true,
    shared: false,
    description:
      "Database: a SQLite file, for example sqlite:/srv/bridge/bridge.db, or PostgreSQL 14 or newer, for example postgres://bridge:password@db.example.com:5432/bridge. Default: sqlite:<data dir>/bridge.db",
  },
  databaseListenUrl: {
    variable: "BRIDGE_DATABASE_LISTEN_URL",
    schema: postgresUrl,
    isSecret: true,
    shared: false,
    description:
      "PostgreSQL URL for notifications between nodes. Set it if BRIDGE_DATABASE_URL leads to a pooler such as PgBouncer, which does not support LISTEN. Default: BRIDGE_DATABASE_URL",
  },
  migrate: {
    variable: "BRIDGE_MIGRATE",
    schema: choice(["auto", "off"]).default("auto"),
    shared: false,
    description:
      "Whether Bridge upgrades the schema of a PostgreSQL database when it starts: auto, or off (Bridge refuses an older schema; run npx brg db migrate).",
  },
  node: {
    name: {
      variable: "BRIDGE_NODE_NAME",
      schema: nodeName.default(hostname),
      shared: false,
      description: "Name of this node among the nodes of a PostgreSQL database. It must be unique. Default: the host name",
    },
    url: {
      variable: "BRIDGE_NODE_URL",
      schema: httpUrl("http://bridge-1:8787").nullable().default(null),
      shared: false,
      description:
        "URL at which the other nodes reach this node, for requests about files and managed agents, for example http://bridge-1:8787. Default: none",
    },
    tags: {
      variable: "BRIDGE_NODE_TAGS",
      schema: nodeTags,
      shared: false,
      description:
        "Tags of this node, comma-separated, for example gpu,eu. A dispatch with runsOn runs only on a node with all of its tags.",
    },
    leaseSeconds: {
      variable: "BRIDGE_LEASE_SECONDS",
      schema: wholeNumber(3, 3600).default(120),
      shared: true,
      description:
        "Time without contact to the database, in seconds from 3 to 3600, after which the other nodes count a node as dead and end its tasks. A node stops its own tasks after two thirds of it.",
    },
    graceSeconds: {
      variable: "BRIDGE_NODE_GRACE_SECONDS",
      schema: wholeNumber(0, 86_400).default(120),
      shared: true,
      description:
        "Time after the end of its lease, in seconds from 0 to 86400, for which the queued tasks of the agents of a dead node wait for its return. Then they fail with adapter_offline.",
    },
    files: {
      variable: "BRIDGE_FILES",
      schema: choice(["local", "shared", "ephemeral"]).default("local"),
      shared: true,
      description:
        "Where the files of agents are: local (on this node, where the agent stays), shared (all nodes mount the same directory at the same path) or ephemeral (lost with the node).",
    },
  },
  filesDir: {
    variable: "BRIDGE_FILES_DIR",
    schema: path,
    shared: false,
    description:
      "Directory for the files of agents: workspaces, homes and sessions. Required with BRIDGE_FILES=shared. Locks and temporary files stay in the data directory. Default: <data dir>",
  },
  delivers: {
    variable: "BRIDGE_DELIVER",
    schema: flag.default(true),
    shared: false,
    description:
      "Whether this node posts callbacks and webhooks. Turn it off if receivers do not accept its address. Needs PostgreSQL, where other nodes post them.",
  },
  workspacesDir: {
    variable: "BRIDGE_WORKSPACES_DIR",
    schema: path,
    shared: false,
    description: "Directory for the workspaces of agents, as <dir>/<tenant>/<agentId>. Default: <files dir>/workspaces",
  },
  adapters: {
    variable: "BRIDGE_ADAPTERS",
    schema: list.default(["command"]),
    shared: false,
    description:
      "Adapters to load, comma-separated: names from the catalog, acp:<name>, and paths or packages that export createAdapter. Default: command",
  },
  provider: {
    variable: "GATEWAY_PROVIDER",
    schema: z.string().min(1).nullable().default(null),
    shared: false,
    description: "Alias of BRIDGE_ADAPTERS for a single adapter.",
  },
  maxConcurrent: {
    variable: "BRIDGE_MAX_CONCURRENT",
    schema: limitPerAdapter,
    shared: false,
    description:
      "Maximum running tasks per adapter, from 0 to 10000; name=number sets the limit of one adapter, for example 4,claude=2. With 0, other nodes run the tasks. Default: 4",
  },
  queueLimit: {
    variable: "BRIDGE_QUEUE_LIMIT",
    schema: wholeNumber(1, 10_000_000).default(10_000),
    shared: true,
    description:
      "Maximum queued tasks of all tenants. At this limit, Bridge rejects a dispatch with 503 queue_full, unless its tenant is below its fair share.",
  },
  quota: {
    queueLimit: {
      variable: "BRIDGE_TENANT_QUEUE_LIMIT",
      schema: limit(10_000_000),
      shared: true,
      description: "Maximum queued tasks per tenant, or off. Default: off",
    },
    maxRunning: {
      variable: "BRIDGE_TENANT_MAX_RUNNING",
      schema: limit(1_000_000),
      shared: true,
      description: "Maximum running tasks per tenant on all adapters, or off. Default: off",
    },
    agentQueueLimit: {
      variable: "BRIDGE_AGENT_QUEUE_LIMIT",
      schema: limit(10_000_000),
      shared: true,
      description: "Maximum queued tasks per agent of a tenant, or off. Default: off",
    },
    agentMaxRunning: {
      variable: "BRIDGE_AGENT_MAX_RUNNING",
      schema: limit(1_000_000),
      shared: true,
      description: "Maximum running tasks per agent of a tenant on all adapters, or off. Default: off",
    },
  },
  bodyLimitBytes: {
    variable: "BRIDGE_BODY_LIMIT",
    schema: bytes.default(8 * 1024 ** 2),
    shared: true,
    description: "Maximum size of a request body, from 1 KiB to 1 GiB, for example 8 MiB, 8m or 8388608. Default: 8 MiB",
  },
  defaultProfile: {
    variable: "BRIDGE_DEFAULT_PROFILE",
    schema: choice(["inspect", "modify"]).default("inspect"),
    shared: true,
    description: "Profile of a dispatch that sets none: inspect (read-only) or modify (may edit files and run commands).",
  },
  tokenHashes: {
    variable: "BRIDGE_GATEWAY_TOKEN_HASH",
    schema: tokenHashes,
    isSecret: true,
    shared: false,
    description:
      "SHA-256 (hex) of a token for the tenant default with all scopes. During a rotation: several hashes, comma-separated, all valid. With PostgreSQL, this or BRIDGE_TOKENS_FILE must be set.",
  },
  tokensFile: {
    variable: "BRIDGE_TOKENS_FILE",
    schema: path,
    shared: false,
    description: "JSON file of tokens: [{name, tenant, sha256, scopes, expiresAt?, weight?, …}]. Bridge reloads it when it changes.",
  },
  rateLimitPerMinute: {
    variable: "BRIDGE_RATE_LIMIT",
    schema: limit(1_000_000),
    shared: true,
    description:
      "Maximum POST requests, task deletions, workspace file writes, and WebSocket requests that start or cancel a run or decide an approval, per token and minute, or off. Default: off",
  },
  corsOrigins: {
    variable: "BRIDGE_CORS_ORIGINS",
    schema: origins,
    shared: false,
    description:
      "Origins whose pages may call Bridge from a browser, comma-separated, for example https://app.example; * allows all. Each call still needs a token.",
  },
  callbacks: {
    retries: {
      variable: "BRIDGE_CALLBACK_RETRIES",
      schema: z.union([z.literal("three-days"), wholeNumber(0, 20)], expected("three-days or a whole number from 0 to 20")).default(3),
      shared: true,
      description:
        "Maximum retries of a callback after its first attempt, from 0 to 20, or three-days: retries over three days, at least every 4 hours.",
    },
    backoffMs: {
      variable: "BRIDGE_CALLBACK_BACKOFF_MS",
      schema: wholeNumber(1, 3_600_000).default(1000),
      shared: true,
      description: "Delay before the first retry of a callback, in milliseconds. Each later delay is five times longer.",
    },
    secrets: {
      variable: "BRIDGE_CALLBACK_SECRETS",
      schema: list.pipe(z.array(callbackSecret)).default([]),
      isSecret: true,
      shared: true,
      description:
        "Secrets that sign callbacks: whsec_ followed by base64, comma-separated. During a rotation, each of them signs. Without a secret, callbacks are unsigned.",
    },
    allow: {
      variable: "BRIDGE_CALLBACK_ALLOW",
      schema: allowedHosts,
      shared: true,
      description:
        "Non-public hosts that callbacks and the MCP servers of a dispatch may use, comma-separated: hosts, *.suffixes and CIDRs, for example 127.0.0.1,*.internal.example,10.0.0.0/8.",
    },
  },
  webhooksFile: {
    variable: "BRIDGE_WEBHOOKS_FILE",
    schema: path,
    shared: false,
    description:
      "JSON file of webhooks: [{name, url, secrets, tenant?, types?, filter?, headers?}]. Bridge reloads it when it changes. Needs BRIDGE_PUBLIC_URL.",
  },
  budgetsFile: {
    variable: "BRIDGE_BUDGETS_FILE",
    schema: path,
    shared: false,
    description:
      "JSON file of budgets: [{name, per, maxCostUsd?, maxTokens?, scope?, timezone?, warnAt?, whenReached?}]. Bridge reloads it when it changes.",
  },
  budgetReserveUsd: {
    variable: "BRIDGE_BUDGET_RESERVE_USD",
    schema: amount(0, 1_000_000).default(1),
    shared: true,
    description:
      "US dollars, from 0 to 1000000, that a task reserves in a budget if it has no maximum and no earlier task shows what such a task costs.",
  },
  repositoriesFile: {
    variable: "BRIDGE_REPOSITORIES_FILE",
    schema: path,
    shared: false,
    description:
      "JSON file that lists the git repositories in which tasks can work: [{name, source, tenants?, push?, defaultRef?, setup?, setupSeconds?}]. Bridge reloads it when it changes.",
  },
  repositoriesMaxGib: {
    variable: "BRIDGE_REPOSITORIES_MAX_GIB",
    schema: limit(1_000_000),
    shared: false,
    description:
      "Maximum size of all repositories and work trees on this node, in GiB, from 1 to 1000000, or off. Bridge rejects a clone or a work tree that does not fit. Default: off",
  },
  repositoriesFetchSeconds: {
    variable: "BRIDGE_REPOSITORIES_FETCH_SECONDS",
    schema: wholeNumber(1, 60).default(10),
    shared: true,
    description:
      "Maximum time, in seconds, from 1 to 60, that a dispatch waits for the fetch of its repository. If the fetch takes longer, Bridge accepts the task, which fetches again when it starts.",
  },
  publicUrl: {
    variable: "BRIDGE_PUBLIC_URL",
    schema: httpUrl("https://bridge.example.com").nullable().default(null),
    shared: true,
    description:
      "URL at which people reach Bridge, for links to the console in webhooks and for the sign-in link, for example https://bridge.example.com.",
  },
  modelPrices: {
    variable: "BRIDGE_MODEL_PRICES",
    schema: modelPrices,
    shared: true,
    description:
      'Prices of models in US dollars per million tokens, which replace list prices: JSON, for example {"my-model":{"input":3,"output":15,"cacheRead":0.3}}. Cache prices default to the price of input. Default: list prices',
  },
  retentionDays: {
    variable: "BRIDGE_RETENTION_DAYS",
    schema: wholeNumber(1, 3650).default(7),
    shared: true,
    description: "Number of days, from 1 to 3650, that Bridge keeps ended tasks and their events.",
  },
  drainSeconds: {
    variable: "BRIDGE_DRAIN_SECONDS",
    schema: wholeNumber(0, 3600).default(30),
    shared: false,
    description: "Time for running tasks to end after SIGTERM, in seconds, from 0 to 3600.",
  },
  idleSeconds: {
    variable: "BRIDGE_IDLE_SECONDS",
    schema: wholeNumber(0, 86_400).default(300),
    shared: true,
    description:
      "Time without an event and without an open tool call after which a task on a streaming runtime fails with idle_timeout, in seconds; 0 turns it off.",
  },
  approvalSeconds: {
    variable: "BRIDGE_APPROVAL_SECONDS",
    schema: wholeNumber(0, 86_400).default(300),
    shared: true,
    description:
      "Time after which an undecided approval counts as rejected, in seconds, up to 86400; 0: a task waits without a time limit.",
  },
  sandbox: {
    variable: "BRIDGE_SANDBOX",
    schema: choice(["off", "auto", "required"]).default("off"),
    shared: false,
    description:
      "Sandbox (bubblewrap) for every runtime: off, auto (a warning if no sandbox works) or required (Bridge does not start without one). With PostgreSQL and an adapter that runs programs, it must be set.",
  },
  mcpCommands: {
    variable: "BRIDGE_MCP_COMMANDS",
    schema: list.default([]),
    shared: true,
    description: "Commands that a dispatch may set for a stdio MCP server, comma-separated, for example npx,/opt/mcp-files. Default: none",
  },
  metricsPublic: {
    variable: "BRIDGE_METRICS_PUBLIC",
    schema: flag.default(false),
    shared: false,
    description: "Whether /metrics is served without a token.",
  },
  traces: {
    endpoint: {
      variable: "OTEL_EXPORTER_OTLP_ENDPOINT",
      schema: httpUrl("http://127.0.0.1:4318").nullable().default(null),
      shared: false,
      description:
        "URL of an OpenTelemetry collector that accepts OTLP over HTTP, for example http://127.0.0.1:4318. Bridge exports traces to <url>/v1/traces. Default: no traces",
    },
    tracesEndpoint: {
      variable: "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT",
      schema: httpUrl("http://127.0.0.1:4318/v1/traces").nullable().default(null),
      shared: false,
      description: "URL to which Bridge exports traces, with its path, instead of OTEL_EXPORTER_OTLP_ENDPOINT.",
    },
    sampler: {
      variable: "OTEL_TRACES_SAMPLER",
      schema: z.string().default("parentbased_always_on"),
      shared: false,
      description:
        "Which traces Bridge exports: always_on, always_off, traceidratio, or one of them after parentbased_, which follows the caller's traceparent if there is one.",
    },
    samplerArg: {
      variable: "OTEL_TRACES_SAMPLER_ARG",
      schema: z.string().nullable().default(null),
      shared: false,
      description: "Ratio of the traces that traceidratio and parentbased_traceidratio export, from 0 to 1. Default: 1",
    },
    disabled: {
      variable: "OTEL_SDK_DISABLED",
      schema: z.string().nullable().default(null),
      shared: false,
      description: "Set it to true to turn off traces.",
    },
    content: {
      variable: "BRIDGE_OTEL_CONTENT",
      schema: list.pipe(z.array(choice(["messages", "tools"]))).default([]),
      shared: false,
      description:
        "Content that traces contain, comma-separated: messages (prompts and answers), tools (arguments and results of tools), each up to 8 KiB. Default: none",
    },
  },
  logLevel: {
    variable: "BRIDGE_LOG_LEVEL",
    schema: choice(["fatal", "error", "warn", "info", "debug", "trace", "silent"]).default("info"),
    shared: false,
    description: "Minimum log level: fatal, error, warn, info, debug, trace or silent.",
  },
  logFormat: {
    variable: "BRIDGE_LOG_FORMAT",
    schema: choice(["auto", "json", "text"]).default("auto"),
    shared: false,
    description:
      "Format of the log on stdout: json (one JSON object in each line), text (lines for people), or auto (text if stdout is a terminal, otherwise json).",
  },
  logsRequests: {
    variable: "BRIDGE_LOG_REQUESTS",
    schema: flag.default(false),
    shared: false,
    description:
      "Whether Bridge logs one line for each request when its response has ended, at the level info: method, route, status, duration, token name and tenant, without paths, queries and bodies.",
  },
} as const satisfies SettingGroup;
