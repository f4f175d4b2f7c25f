import { readFileSync } from "node:fs";
import { isIP } from "node:net";
import { hostname } from "node:os";
import path from "node:path";
import { z } from "zod";
import { type Catalog, findEntry, findFamily, settingsKey } from "#contract";
import { ConfigError } from "../errors.ts";
import { findNearestName } from "../nearest-name.ts";
import type { TenantQuota } from "../task.ts";
import { listSecrets, listSettings, serverSettings } from "./settings.ts";
import { findTraceFaults, readTraceSettings, type TraceSettings } from "./trace-settings.ts";

/** The SQLite file in the data directory. */
const DEFAULT_DATABASE = "bridge.db";

/** The complete and valid configuration of Bridge. All paths are absolute. */
export interface Config {
  host: string;
  port: number;
  dataDir: string;
  /** The SQLite file, unless `databaseUrl` is set. */
  databaseFile: string;
  /** The URL of a PostgreSQL database. It can contain a password. */
  databaseUrl: string | null;
  /** The URL for notifications, if `databaseUrl` leads to a pooler. */
  databaseListenUrl: string | null;
  /** Whether this node upgrades the schema of a PostgreSQL database at its start. */
  migrates: boolean;
  /** This node among the nodes of a PostgreSQL database. */
  node: {
    name: string;
    url: string | null;
    tags: readonly string[];
    files: "local" | "shared" | "ephemeral";
    leaseSeconds: number;
    graceSeconds: number;
  };
  /** The directory for what follows an agent: its workspace, its home and its sessions. */
  filesDir: string;
  workspacesDir: string;
  adapters: readonly string[];
  maxConcurrent: (provider: string) => number;
  queueLimit: number;
  /** The default quota of a tenant. The tokens file can override each field. */
  quota: TenantQuota;
  bodyLimitBytes: number;
  defaultProfile: "inspect" | "modify";
  tokenHashes: readonly string[];
  tokensFile: string | null;
  /** The files from which secrets were read. */
  secretFiles: readonly string[];
  rateLimitPerMinute: number | null;
  corsOrigins: readonly string[];
  callbacks: { retries: number | "three-days"; backoffMs: number; secrets: readonly string[]; allow: readonly string[] };
  webhooksFile: string | null;
  /** Where people reach Bridge. Set if there is a file of webhooks. */
  publicUrl: string | null;
  /** Whether this node posts callbacks and webhooks. */
  delivers: boolean;
  retentionDays: number;
  drainSeconds: number;
  idleSeconds: number;
  approvalSeconds: number;
  sandbox: "off" | "auto" | "required";
  mcpCommands: readonly string[];
  metricsPublic: boolean;
  /** Null without traces. */
  traces: TraceSettings | null;
  logLevel: string;
  logFormat: "auto" | "json" | "text";
  /** Whether each request is logged. */
  logsRequests: boolean;
  /** Values of the adapters' settings: by provider, or by `<prefix>:` for a family of adapters. */
  adapterSettings: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}

type Environment = Readonly<Record<string, string | undefined>>;
type ServerValues = z.output<z.ZodObject<typeof serverSettings>>;

/**
 * Reads the configuration from environment variables. Throws a ConfigError that lists every fault; returns warnings, for example about
 * unknown `BRIDGE_*` names. `explainMissing` returns null for an adapter that exists. Bridge starts if one of several adapters exists.
 */
export function readConfig(
  environment: Environment,
  catalog: Catalog,
  explainMissing: (adapter: string) => string | null = () => null,
): { config: Config; warnings: string[] } {
  const settings = listSettings(catalog);
  const secrets = listSecrets(settings);
  const faults: string[] = [];
  const present = Object.fromEntries(Object.entries(environment).filter(([, value]) => value !== undefined && value !== ""));
  const env = { ...present, ...readSecretFiles(present, secrets, faults) };
  const parsed = z.object(settings).safeParse(env);
  if (!parsed.success) faults.push(...new Set(parsed.error.issues.map((issue) => `${issue.path[0]?.toString()}: ${issue.message}`)));
  const adapterSettings = parsed.success ? groupByAdapter(parsed.data, catalog) : {};

  const alias = env["GATEWAY_PROVIDER"];
  const adapters =
    alias === undefined
      ? (env["BRIDGE_ADAPTERS"] ?? "command")
          .split(",")
          .map((name) => name.trim())
          .filter(Boolean)
      : [alias.trim()];
  if (alias !== undefined && env["BRIDGE_ADAPTERS"] !== undefined && env["BRIDGE_ADAPTERS"].trim() !== alias.trim()) {
    faults.push("GATEWAY_PROVIDER: differs from BRIDGE_ADAPTERS; set one of them");
  }
  if (adapters.length === 0) faults.push("BRIDGE_ADAPTERS: must name at least one adapter");
  const spaceSeparated = adapters.find((name) => /^[a-z:-]+(\s+[a-z:-]+)+$/.test(name));
  if (spaceSeparated !== undefined) faults.push(`BRIDGE_ADAPTERS: separate adapters by commas: ${spaceSeparated.split(/\s+/).join(",")}`);
  const missing = spaceSeparated === undefined ? [...new Set(adapters)].map(explainMissing) : [];
  if (!missing.includes(null)) faults.push(...missing.map((reason) => `BRIDGE_ADAPTERS: ${reason}`));
  for (const name of new Set(adapters.filter((adapter, index) => adapters.indexOf(adapter) !== index))) {
    faults.push(`BRIDGE_ADAPTERS: names ${name} twice`);
  }
  if (parsed.success) faults.push(...adapters.flatMap((name) => findMissingDescription(name, catalog, adapterSettings)));
  if (parsed.success) faults.push(...findUselessLimits(parsed.data as ServerValues), ...findTraceFaults(parsed.data as ServerValues, env));
  if (env["BRIDGE_WEBHOOKS_FILE"] !== undefined && env["BRIDGE_PUBLIC_URL"] === undefined)
    faults.push("BRIDGE_PUBLIC_URL: must be set with BRIDGE_WEBHOOKS_FILE, because webhooks contain links to the console");
  const hasTokens = /[^,\s]/.test(env["BRIDGE_GATEWAY_TOKEN_HASH"] ?? "") || env["BRIDGE_TOKENS_FILE"] !== undefined;
  const hasHostFault = faults.some((fault) => fault.startsWith("BRIDGE_HOST:"));
  if (!hasTokens && !hasHostFault && !isLoopback(env["BRIDGE_HOST"] ?? "localhost")) {
    faults.push("BRIDGE_HOST: any address other than loopback requires a token; set BRIDGE_GATEWAY_TOKEN_HASH or BRIDGE_TOKENS_FILE");
  }
  if (parsed.success && usesPostgres(env["BRIDGE_DATABASE_URL"])) faults.push(...findUnsafeSharing(env, { hasTokens, adapters, catalog }));
  if (!parsed.success || faults.length > 0) throw new ConfigError(faults);

  const values = parsed.data as ServerValues;
  const dataDir = path.resolve(values.BRIDGE_DATA_DIR);
  const filesDir = path.resolve(values.BRIDGE_FILES_DIR ?? dataDir);
  const config: Config = {
    host: values.BRIDGE_HOST,
    port: values.BRIDGE_PORT,
    dataDir,
    ...toDatabase(values.BRIDGE_DATABASE_URL, path.join(dataDir, DEFAULT_DATABASE)),
    databaseListenUrl: values.BRIDGE_DATABASE_LISTEN_URL ?? null,
    migrates: values.BRIDGE_MIGRATE === "auto",
    node: {
      name: values.BRIDGE_NODE_NAME ?? hostname(),
      url: values.BRIDGE_NODE_URL ?? null,
      tags: values.BRIDGE_NODE_TAGS,
      files: values.BRIDGE_FILES,
      leaseSeconds: values.BRIDGE_LEASE_SECONDS,
      graceSeconds: values.BRIDGE_NODE_GRACE_SECONDS,
    },
    filesDir,
    workspacesDir: path.resolve(values.BRIDGE_WORKSPACES_DIR ?? path.join(filesDir, "workspaces")),
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
    secretFiles: secrets.flatMap((name) => present[`${name}_FILE`] ?? []).map((file) => path.resolve(file)),
    rateLimitPerMinute: values.BRIDGE_RATE_LIMIT === "off" ? null : values.BRIDGE_RATE_LIMIT,
    corsOrigins: values.BRIDGE_CORS_ORIGINS,
    callbacks: {
      retries: values.BRIDGE_CALLBACK_RETRIES,
      backoffMs: values.BRIDGE_CALLBACK_BACKOFF_MS,
      secrets: values.BRIDGE_CALLBACK_SECRETS ?? [],
      allow: values.BRIDGE_CALLBACK_ALLOW,
    },
    webhooksFile: values.BRIDGE_WEBHOOKS_FILE === undefined ? null : path.resolve(values.BRIDGE_WEBHOOKS_FILE),
    publicUrl: values.BRIDGE_PUBLIC_URL ?? null,
    delivers: values.BRIDGE_DELIVER,
    retentionDays: values.BRIDGE_RETENTION_DAYS,
    drainSeconds: values.BRIDGE_DRAIN_SECONDS,
    idleSeconds: values.BRIDGE_IDLE_SECONDS,
    approvalSeconds: values.BRIDGE_APPROVAL_SECONDS,
    sandbox: values.BRIDGE_SANDBOX,
    mcpCommands: values.BRIDGE_MCP_COMMANDS,
    metricsPublic: values.BRIDGE_METRICS_PUBLIC,
    traces: readTraceSettings(values),
    logLevel: values.BRIDGE_LOG_LEVEL,
    logFormat: values.BRIDGE_LOG_FORMAT,
    logsRequests: values.BRIDGE_LOG_REQUESTS,
    adapterSettings,
  };
  return {
    config,
    warnings: [...listUnknownSettings(environment, catalog), ...listUnusedLimits(values.BRIDGE_MAX_CONCURRENT.limits, adapters, catalog)],
  };
}

/** Reads where the database is, which is all that commands on the database need. Throws a ConfigError. */
export function readDatabase(environment: Environment): Pick<Config, "databaseFile" | "databaseUrl"> {
  const name = "BRIDGE_DATABASE_URL";
  const present = Object.fromEntries(Object.entries(environment).filter(([, value]) => value !== undefined && value !== ""));
  const faults: string[] = [];
  const url = { ...present, ...readSecretFiles(present, [name], faults) }[name];
  const parsed = serverSettings[name].safeParse(url);
  if (!parsed.success) faults.push(...parsed.error.issues.map(({ message }) => `${name}: ${message}`));
  if (faults.length > 0) throw new ConfigError(faults);
  const dataDir = path.resolve(serverSettings.BRIDGE_DATA_DIR.parse(present["BRIDGE_DATA_DIR"]));
  return toDatabase(parsed.data, path.join(dataDir, DEFAULT_DATABASE));
}

/** Groups the values of the settings by adapter, under the names that the adapter declares. */
function groupByAdapter(values: Readonly<Record<string, unknown>>, catalog: Catalog): Config["adapterSettings"] {
  const group = ({ settings }: Catalog[number]) =>
    Object.fromEntries(Object.entries(settings).map(([name, { variable }]) => [name, values[variable]]));
  return Object.fromEntries(catalog.map((entry) => [settingsKey(entry), group(entry)]));
}

/** Returns the fault of an adapter such as `acp:goose` that no setting describes; otherwise an empty list. */
function findMissingDescription(adapter: string, catalog: Catalog, settings: Config["adapterSettings"]): string[] {
  const found = findFamily(catalog, adapter);
  if (found === null) return [];
  const described = found.family.find(found.member, settings[settingsKey(found.family)] ?? {});
  return "missing" in described ? [`BRIDGE_ADAPTERS: ${described.missing}`] : [];
}

/**
 * Lists limits of adapters that are not enabled. Lists none if an adapter comes from a path or a package, whose provider is not known
 * yet.
 */
function listUnusedLimits(limits: ReadonlyMap<string, number>, adapters: readonly string[], catalog: Catalog): string[] {
  if (adapters.some((name) => /[./@]/.test(name))) return [];
  const providerOf = (name: string) => findFamily(catalog, name)?.member ?? name;
  const loaded = adapters.map(providerOf);
  return [...limits.keys()]
    .filter((name) => !loaded.includes(providerOf(name)))
    .map((name) => `BRIDGE_MAX_CONCURRENT limits ${name}, which is not one of BRIDGE_ADAPTERS (${adapters.join(", ")})`);
}

/** Without other nodes, nothing would run the tasks of an adapter whose limit is 0, or post the callbacks. */
function findUselessLimits({
  BRIDGE_DATABASE_URL: url,
  BRIDGE_DELIVER: delivers,
  BRIDGE_MIGRATE,
  BRIDGE_MAX_CONCURRENT,
}: ServerValues): string[] {
  if (usesPostgres(url)) return [];
  const { fallback, limits } = BRIDGE_MAX_CONCURRENT;
  const hasIdle = [fallback, ...limits.values()].includes(0);
  return [
    hasIdle && "BRIDGE_MAX_CONCURRENT: a limit of 0 needs PostgreSQL (BRIDGE_DATABASE_URL), where other nodes run the tasks",
    !delivers && "BRIDGE_DELIVER: false needs PostgreSQL (BRIDGE_DATABASE_URL), where other nodes post the callbacks",
    BRIDGE_MIGRATE === "off" && "BRIDGE_MIGRATE: off needs PostgreSQL (BRIDGE_DATABASE_URL); a SQLite database is upgraded at each start",
  ].filter((fault) => fault !== false);
}

const usesPostgres = (url: string | undefined): url is string => url !== undefined && !url.startsWith("sqlite:");

/** Nodes share one database: a token has to be valid on all of them, and each of them can read the data of all tenants. */
function findUnsafeSharing(
  env: Environment,
  { hasTokens, adapters, catalog }: { hasTokens: boolean; adapters: readonly string[]; catalog: Catalog },
): string[] {
  const programs = adapters.filter((name) => runsPrograms(name, catalog));
  return [
    env["BRIDGE_FILES"] === "shared" &&
      env["BRIDGE_FILES_DIR"] === undefined &&
      "BRIDGE_FILES_DIR: must be set with BRIDGE_FILES=shared, to the directory that all nodes mount at the same path",
    env["BRIDGE_FILES"] === "shared" &&
      env["BRIDGE_WORKSPACES_DIR"] !== undefined &&
      "BRIDGE_WORKSPACES_DIR: cannot be set with BRIDGE_FILES=shared, where workspaces are in BRIDGE_FILES_DIR",
    !hasTokens &&
      "BRIDGE_GATEWAY_TOKEN_HASH: PostgreSQL requires a token, because each node would generate another one; set BRIDGE_GATEWAY_TOKEN_HASH or BRIDGE_TOKENS_FILE. To generate a token and its hash: openssl rand -hex 32 | tee token | tr -d '\\n' | sha256sum",
    env["BRIDGE_SANDBOX"] === undefined &&
      programs.length > 0 &&
      `BRIDGE_SANDBOX: must be set with PostgreSQL and ${programs.join(", ")}, because a program that runs as Bridge's user without a sandbox can read the password of the database, and so the data of all tenants; set required, auto or off`,
  ].filter((fault) => fault !== false);
}

/** Adapters from outside the catalog can run programs, and those of a family do. */
function runsPrograms(adapter: string, catalog: Catalog): boolean {
  const entry = findEntry(catalog, adapter);
  return entry === undefined || entry.runsPrograms === true;
}

/** Bridge generates a token itself only if it listens on a loopback address. */
const isLoopback = (host: string): boolean =>
  host === "localhost" || host === "::1" || host === "[::1]" || (isIP(host) === 4 && host.startsWith("127."));

function readSecretFiles(env: Record<string, string | undefined>, secrets: readonly string[], faults: string[]): Record<string, string> {
  const found: Record<string, string> = {};
  for (const name of secrets) {
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

function toDatabase(url: string | undefined, defaultFile: string): Pick<Config, "databaseFile" | "databaseUrl"> {
  const file = url?.startsWith("sqlite:") ? url.slice("sqlite:".length) : defaultFile;
  return { databaseFile: path.resolve(file), databaseUrl: usesPostgres(url) ? url : null };
}

/** Returns a warning for each `BRIDGE_…` variable that is no setting, with the setting that was probably meant. */
export function listUnknownSettings(environment: Environment, catalog: Catalog): string[] {
  const settings = listSettings(catalog);
  const known = [...Object.keys(settings), ...listSecrets(settings).map((name) => `${name}_FILE`)];
  return Object.entries(environment)
    .filter(([name, value]) => name.startsWith("BRIDGE_") && value !== undefined && value !== "" && !known.includes(name))
    .map(([name]) => {
      const nearest = findNearestName(name, known);
      return `${name} is not a setting of Bridge and is ignored${nearest === null ? "" : `; did you mean ${nearest}?`}`;
    });
}
